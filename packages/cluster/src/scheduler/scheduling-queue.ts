import { type Clock, deepEqual, type Timer } from "@konverge/core";
import type { PodInfo } from "./pod-info.ts";

interface Entry {
  pod: PodInfo;
  /** The order of their coming. */
  readonly order: number;
  attempts: number;
  /** When it was last tried. */
  tried: number;
  where: "active" | "backoff" | "unschedulable" | "taken";
}

const FIRST_BACKOFF = 1_000;
const LONGEST_BACKOFF = 10_000;
/** Pods that found no place are tried again after this long even if nothing has changed. */
const LONGEST_WAIT = 300_000;

/**
 * Pods that wait for a node. The most important come first, then the oldest. One that finds no place waits until something
 * changes that might help, and at least for its back-off: a second that doubles up to ten.
 */
export class SchedulingQueue {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();
  /** The unschedulable pods: only these are scanned at every change, as pods that have not been tried are many more. */
  readonly #refused = new Set<Entry>();
  #active: Entry[] = [];
  #isSorted = true;
  #count = 0;
  #timer: Timer | undefined;
  #flush: Timer | undefined;
  /** Something changed during a scheduling attempt: its failure may be outdated. */
  #moves = 0;
  readonly #takenAt = new Map<string, number>();
  /** Called when there is something to take. */
  onReady: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get waiting(): number {
    return this.#entries.size;
  }

  /** A pod needs a node; or one that does has changed. */
  add(pod: PodInfo): void {
    const known = this.#entries.get(pod.uid);
    if (known) {
      const isDifferent = asksForElse(known.pod, pod);
      known.pod = pod;
      if (isDifferent) this.#reconsider(known);
      return;
    }
    const entry: Entry = { pod, order: this.#count++, attempts: 0, tried: 0, where: "active" };
    this.#entries.set(pod.uid, entry);
    this.#activate(entry);
  }

  has(uid: string): boolean {
    return this.#entries.has(uid);
  }

  remove(uid: string): void {
    const entry = this.#entries.get(uid);
    if (entry) this.#refused.delete(entry);
    this.#entries.delete(uid);
    this.#takenAt.delete(uid);
  }

  /** The next pod to try. */
  take(): PodInfo | undefined {
    if (!this.#isSorted) {
      this.#active.sort((a, b) => byUrgency(b, a));
      this.#isSorted = true;
    }
    for (let entry = this.#active.pop(); entry; entry = this.#active.pop()) {
      if (this.#entries.get(entry.pod.uid) !== entry || entry.where !== "active") continue;
      this.#start(entry);
      return entry.pod;
    }
    return undefined;
  }

  /** Takes the other pods of a group that wait. */
  takeGroup(pod: PodInfo): PodInfo[] {
    const mates: PodInfo[] = [];
    for (const entry of this.#entries.values()) {
      const { group, namespace } = entry.pod;
      if (group !== pod.group || namespace !== pod.namespace || entry.where === "taken") continue;
      this.#start(entry);
      mates.push(entry.pod);
    }
    return mates.sort((a, b) => b.priority - a.priority || (a.name < b.name ? -1 : 1));
  }

  /** It found no place. */
  giveBack(uid: string): void {
    const entry = this.#entries.get(uid);
    if (!entry) return;
    const changed = this.#takenAt.get(uid) !== this.#moves;
    this.#takenAt.delete(uid);
    entry.where = "unschedulable";
    this.#refused.add(entry);
    if (changed) this.#requeue(entry);
    this.#flush ??= this.#clock.after(
      LONGEST_WAIT,
      () => {
        this.#flush = undefined;
        this.moveAll();
      },
      { background: true, label: "scheduler: flush" },
    );
  }

  /** Something has changed that might help the pods that found no place. */
  moveAll(): void {
    this.#moves++;
    for (const entry of [...this.#refused]) if (entry.where === "unschedulable") this.#requeue(entry);
  }

  close(): void {
    this.#timer?.cancel();
    this.#flush?.cancel();
    this.#entries.clear();
    this.#refused.clear();
    this.#active = [];
  }

  /** Its requirements have changed: earlier attempts do not count. */
  #reconsider(entry: Entry): void {
    if (entry.where === "unschedulable") this.#requeue(entry);
    else this.#takenAt.delete(entry.pod.uid);
  }

  #start(entry: Entry): void {
    this.#refused.delete(entry);
    entry.where = "taken";
    entry.attempts++;
    entry.tried = this.#clock.now();
    this.#takenAt.set(entry.pod.uid, this.#moves);
  }

  #requeue(entry: Entry): void {
    if (this.#backoffEnd(entry) <= this.#clock.now()) {
      this.#activate(entry);
      return;
    }
    entry.where = "backoff";
    this.#wake();
  }

  #activate(entry: Entry): void {
    entry.where = "active";
    this.#refused.delete(entry);
    const last = this.#active.at(-1);
    this.#active.push(entry);
    if (last && byUrgency(last, entry) < 0) this.#isSorted = false;
    this.onReady();
  }

  #wake(): void {
    if (this.#timer) return;
    let next = Number.POSITIVE_INFINITY;
    for (const entry of this.#refused) {
      if (entry.where === "backoff") next = Math.min(next, this.#backoffEnd(entry));
    }
    if (next === Number.POSITIVE_INFINITY) return;
    this.#timer = this.#clock.after(
      Math.max(0, next - this.#clock.now()),
      () => {
        this.#timer = undefined;
        const now = this.#clock.now();
        for (const entry of [...this.#refused]) {
          if (entry.where === "backoff" && this.#backoffEnd(entry) <= now) this.#activate(entry);
        }
        this.#wake();
      },
      { label: "scheduler: back-off" },
    );
  }

  #backoffEnd({ attempts, tried }: Entry): number {
    return tried + Math.min(FIRST_BACKOFF * 2 ** Math.max(0, attempts - 1), LONGEST_BACKOFF);
  }
}

function asksForElse(before: PodInfo, now: PodInfo): boolean {
  if (before.generation !== now.generation) return true;
  return !deepEqual([before.labels, before.deviceClaims], [now.labels, now.deviceClaims]);
}

/** Negative when `a` is to be tried before `b`. */
function byUrgency(a: Entry, b: Entry): number {
  return b.pod.priority - a.pod.priority || a.order - b.order;
}
