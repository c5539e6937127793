import type { Client } from "@konverge/client";
import type { BackoffLimits, Clock, KubeObject } from "@konverge/core";
import type { EventSink } from "../events/event-sink.ts";
import type { Log } from "../log.ts";

/** Work for one object that goes on for as long as the object is there: following a stream, polling a device. */
export interface Daemon<T extends KubeObject = KubeObject> {
  /**
   * The work. When it throws it is begun again, after ever longer waits; an ExternalError says after how long, a
   * PermanentError that it is no use until the spec changes. When it returns it is finished.
   */
  run(object: T, context: DaemonContext<T>): Promise<void>;
  /** For which objects. Default: for all. */
  when?(object: T): boolean;
  /** When what this returns changes, the work is interrupted and restarted: `({ spec }) => spec.url`. */
  basis?(object: T): unknown;
  backoff?: Partial<BackoffLimits>;
}

/** What a daemon is given besides its object. */
export interface DaemonContext<T extends KubeObject = KubeObject> {
  /** Fires when the work must end: the object is deleted or paused, or another replica acquires it. */
  readonly signal: AbortSignal;
  readonly client: Client;
  readonly events: EventSink;
  readonly log: Log;
  readonly clock: Clock;
  /** The object as it is now; undefined if it is gone. */
  latest(): T | undefined;
  /** Has the object reconciled. */
  requeue(): void;
  /** Waits; rejects when the work must end. */
  sleep(ms: number): Promise<void>;
}
