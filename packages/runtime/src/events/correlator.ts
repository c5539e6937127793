import { type Clock, type KubeObject, type ObjectKey, TokenBucket } from "@konverge/core";
import type { EventOptions } from "./event-sink.ts";

/** Something to tell about an object. */
export interface Happening extends EventOptions {
  readonly object: KubeObject;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** An event, and how often it has happened. */
export interface Occurrence extends Omit<Happening, "message"> {
  message: string;
  count: number;
  /** The Event that was written. */
  written: ObjectKey | undefined;
  last: number;
}

/** After this long, the same thing is a new event. */
const WINDOW = 10 * 60_000;
/** As many different messages of one reason about one object get separate events; later ones share one. */
const DIFFERENT_MESSAGES = 10;
/** Per object: this many at once, and then one every five minutes. */
const PER_OBJECT = { perSecond: 1 / 300, burst: 25 };
/** Objects of which events are remembered. */
const REMEMBERED = 4096;

interface Subject {
  readonly bucket: TokenBucket;
  readonly occurrences: Map<string, Occurrence>;
}

/** Decides which events are the same, which are combined, and which are dropped because there are too many. */
export class EventCorrelator {
  readonly #clock: Clock;
  /** By uid, least recently used first. */
  readonly #subjects = new Map<string, Subject>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The event to write, new or again; undefined if there are too many about this object. */
  correlate(happening: Happening): Occurrence | undefined {
    const now = this.#clock.monotonic();
    const subject = this.#subject(happening.object);
    for (const [name, { last }] of subject.occurrences) if (now - last > WINDOW) subject.occurrences.delete(name);
    if (subject.bucket.take() > 0) return undefined;
    const { type, reason, message } = happening;
    const similar = [...subject.occurrences.values()].filter((one) => one.type === type && one.reason === reason);
    const combined = similar.length >= DIFFERENT_MESSAGES;
    const name = JSON.stringify(combined ? [type, reason] : [type, reason, message]);
    const known = subject.occurrences.get(JSON.stringify([type, reason, message])) ?? subject.occurrences.get(name);
    const text = combined && known?.message !== message ? `(combined from similar events): ${message}` : message;
    if (known) {
      known.count++;
      known.last = now;
      known.message = text;
      return known;
    }
    const fresh: Occurrence = { ...happening, message: text, count: 1, written: undefined, last: now };
    subject.occurrences.set(name, fresh);
    return fresh;
  }

  #subject({ metadata }: KubeObject): Subject {
    const uid = metadata.uid ?? metadata.name;
    const known = this.#subjects.get(uid);
    const subject = known ?? { bucket: new TokenBucket(this.#clock, PER_OBJECT), occurrences: new Map() };
    this.#subjects.delete(uid);
    this.#subjects.set(uid, subject);
    if (this.#subjects.size > REMEMBERED) this.#subjects.delete(this.#subjects.keys().next().value!);
    return subject;
  }
}
