import type { KindRef, KubeObject } from "@konverge/core";
import type { WatchScope } from "../cache/selection.ts";
import type { QueuePriority } from "../queue/work-queue.ts";

/** The state of a watch. */
export interface WatchState {
  cluster: string;
  kind: KindRef<KubeObject>;
  scope: WatchScope;
  synced: boolean;
  /** Milliseconds since the server last sent something. */
  age: number;
  objects: number;
  bytes: number;
  error: Error | undefined;
}

/** The state of a controller. */
export interface ControllerState {
  cluster: string;
  name: string;
  /** Keys that wait for a worker (in total and by priority), that are being reconciled, and that wait for a retry. */
  depth: number;
  depths: Readonly<Record<QueuePriority, number>>;
  working: number;
  retrying: number;
  /** The maximum number of concurrent reconciles. */
  concurrency: number;
  /** The number of running daemons, by name. */
  daemons: Readonly<Record<string, number>>;
}
