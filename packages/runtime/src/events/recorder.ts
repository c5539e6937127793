import type { Client } from "@konverge/client";
import { type Clock, isNotFound, type KubeObject, keyOf, microTimestamp, timestamp } from "@konverge/core";
import { Event, type ObjectReference } from "@konverge/kinds";
import { EventCorrelator, type Occurrence } from "./correlator.ts";
import type { EventOptions, EventSink } from "./event-sink.ts";

export interface EventRecorderOptions {
  client: Client;
  clock: Clock;
  /** The controller, as a qualified name. */
  component: string;
  /** The replica. */
  instance: string;
}

/** Events that wait to be written; more than that are dropped, since something is badly wrong. */
const LONGEST_BACKLOG = 1000;
const LONGEST_MESSAGE = 1024;

/**
 * Writes Events, and increments the count of an Event when it is repeated. They have both the fields of events.k8s.io
 * (eventTime, action, series) and the older ones (firstTimestamp, lastTimestamp, count, source), so that `kubectl get
 * events --sort-by=.lastTimestamp` and `kubectl events` show them all. They are written through the core API, because
 * events.k8s.io rejects the older fields; the server stores the same object.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #correlator: EventCorrelator;
  /** In the order of their happening. */
  readonly #backlog = new Set<Occurrence>();
  #writing: Promise<void> | undefined;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#correlator = new EventCorrelator(options.clock);
  }

  /** The sink for events about one object. */
  about(object: KubeObject): EventSink {
    return {
      normal: (reason, message, options) => this.#record(object, "Normal", reason, message, options),
      warning: (reason, message, options) => this.#record(object, "Warning", reason, message, options),
    };
  }

  /** Resolves when all events so far are written or dropped. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  #record(
    object: KubeObject,
    type: "Normal" | "Warning",
    reason: string,
    message: string,
    options: EventOptions = {},
  ): void {
    const text = message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE - 1)}…` : message;
    const { action, related } = options;
    const occurrence = this.#correlator.correlate({
      object: named(object),
      type,
      reason,
      message: text,
      ...(action !== undefined && { action }),
      ...(related && { related: named(related) }),
    });
    if (!occurrence || this.#backlog.size >= LONGEST_BACKLOG) return;
    this.#backlog.add(occurrence);
    this.#writing ??= this.#drain().finally(() => {
      this.#writing = undefined;
    });
  }

  async #drain(): Promise<void> {
    for (const next of this.#backlog) {
      this.#backlog.delete(next);
      // A failed event is lost; its content is in the log and the conditions as well.
      await this.#write(next).catch(() => {});
    }
  }

  async #write(occurrence: Occurrence): Promise<void> {
    const { client, clock } = this.#options;
    const { count } = occurrence;
    if (occurrence.written) {
      const series = { count, lastObservedTime: microTimestamp(clock) };
      try {
        await client.patch(Event, occurrence.written, {
          merge: { count, lastTimestamp: timestamp(clock), series, message: occurrence.message },
        });
        return;
      } catch (error) {
        // Servers forget events after an hour: it starts again.
        if (!isNotFound(error)) throw error;
      }
    }
    occurrence.written = keyOf(await client.create(Event, this.#event(occurrence)));
  }

  #event({ object, type, reason, message, action = "Reconcile", related, count }: Occurrence) {
    const { clock, component, instance } = this.#options;
    const { name, namespace = "default" } = object.metadata;
    const suffix = clock.random.uuid().replaceAll("-", "").slice(0, 16);
    return {
      metadata: { name: `${name.slice(0, 236)}.${suffix}`, namespace },
      involvedObject: referenceTo(object),
      ...(related && { related: referenceTo(related) }),
      type,
      reason,
      message,
      action,
      eventTime: microTimestamp(clock),
      reportingComponent: component,
      reportingInstance: instance.slice(0, 128),
      source: { component },
      firstTimestamp: timestamp(clock),
      lastTimestamp: timestamp(clock),
      count,
    };
  }
}

/** What events say of an object. Occurrences are remembered for a long time, objects need not be. */
function named({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } } as KubeObject;
}

function referenceTo({ apiVersion, kind, metadata }: KubeObject): ObjectReference {
  const { name, namespace, uid, resourceVersion } = metadata;
  return { apiVersion, kind, name, ...(namespace && { namespace }), uid, resourceVersion };
}
