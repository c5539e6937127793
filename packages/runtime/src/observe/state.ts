import type { KindRef, KubeObject } from "@konverge/core";
import type { WatchScope } from "../cache/selection.ts";
import type { QueuePriority } from "../queue/work-queue.ts";

/** What a watch is doing. */
export interface WatchState {
  cluster: string;
  kind: KindRef<KubeObject>;
  scope: WatchScope;
  synced: boolean;
  /** Milliseconds since the server last gave a sign of life. */
  age: number;
  objects: number;
  bytes: number;
  error: Error | undefined;
}

/** What a controller is doing. */
export interface ControllerState {
  cluster: string;
  name: string;
  /** Keys that wait for a worker (in all, and by priority), are with one, and wait to be tried again. */
  depth: number;
  depths: Readonly<Record<QueuePriority, number>>;
  working: number;
  retrying: number;
  /** How many objects it works on at the same time, at most. */
  concurrency: number;
  /** How many objects each of its daemons runs for at the moment, by the daemon's name. */
  daemons: Readonly<Record<string, number>>;
}
