import type { Client } from "@konverge/client";
import type { BackoffLimits, Clock, KubeObject } from "@konverge/core";
import type { EventSink } from "../events/event-sink.ts";
import type { Log } from "../log.ts";

/** Work for one object that runs for as long as the object exists, such as following a stream or polling a device. */
export interface Daemon<T extends KubeObject = KubeObject> {
  /**
   * The work. If it throws, it is restarted with backoff; an ExternalError sets the delay, and after a PermanentError
   * it is restarted when the spec changes. If it returns, it is finished.
   */
  run(object: T, context: DaemonContext<T>): Promise<void>;
  /** For which objects. Default: for all. */
  when?(object: T): boolean;
  /** When what this returns changes, the work is interrupted and restarted: `({ spec }) => spec.url`. */
  basis?(object: T): unknown;
  backoff?: Partial<BackoffLimits>;
}

/** The second argument of a daemon's `run`. */
export interface DaemonContext<T extends KubeObject = KubeObject> {
  /** Fires when the work must end: the object is deleted or paused, or another replica acquires it. */
  readonly signal: AbortSignal;
  readonly client: Client;
  readonly events: EventSink;
  readonly log: Log;
  readonly clock: Clock;
  /** The object as it is now; undefined if it no longer exists. */
  latest(): T | undefined;
  /** Requests a reconcile of the object. */
  requeue(): void;
  /** Waits; rejects when the work must end. */
  sleep(ms: number): Promise<void>;
}
