import type { Client } from "@konverge/client";
import type { Clock } from "@konverge/core";
import type { Actor } from "./timeline.ts";

/** The cluster around an operator, as the explorer reaches it: in process, or behind a proxy. */
export interface World {
  readonly clock: Clock;
  /** Acts with all permissions, and does not advance the time. */
  readonly client: Client;
  /** The test namespace. */
  readonly namespace: string;
  /** The newest resource version in the cluster. */
  revision(): number;
  /** Identifies the present state of the test namespace: equal for equal objects, versions and times aside. */
  state(): string;
  /** The resource version that an object has now; undefined if it does not exist. */
  liveVersion(object: { resource: string; namespace: string | undefined; name: string }): string | undefined;
  /** Runs a write and attributes what it changes to its author. */
  writing<T>(who: Actor, object: WrittenObject, write: () => Promise<T>): Promise<T>;
}

/** What a write is about. */
export interface WrittenObject {
  readonly resource: string;
  readonly name: string | undefined;
  /** Only a delete deletes: what the garbage collector deletes at the same moment is not the writer's. */
  readonly deletes?: boolean;
}

/** A process of the operator. */
export interface ExploredProcess {
  /** Counted from 1. */
  readonly number: number;
  /** Kills it: nothing is finished, its memory is lost. The next one is started after this time. */
  crash(downMs?: number): void;
}
