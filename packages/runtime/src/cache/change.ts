import type { KubeObject, ObjectKey } from "@konverge/core";

/** A change in the cache. */
export interface CacheChange<T extends KubeObject = KubeObject> {
  readonly type: "added" | "changed" | "deleted";
  readonly key: ObjectKey;
  /** The current object; for a deleted object, its last known state. */
  readonly object: T;
  /** The previous object; undefined if it did not exist. */
  readonly before: T | undefined;
  /** Part of a listing: the change can be old. */
  readonly listed: boolean;
  /** The controller of this process that wrote it, if any: the change is known from the response. */
  readonly writer: string | undefined;
}

export type CacheChangeListener<T extends KubeObject = KubeObject> = (change: CacheChange<T>) => void;
