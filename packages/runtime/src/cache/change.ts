import type { KubeObject, ObjectKey } from "@konverge/core";

/** Something became different in the cache. */
export interface CacheChange<T extends KubeObject = KubeObject> {
  readonly type: "added" | "changed" | "deleted";
  readonly key: ObjectKey;
  /** As it is now; of a deleted object the last state that is known. */
  readonly object: T;
  /** As it was before; undefined if it was not there. */
  readonly before: T | undefined;
  /** Part of a listing: it may have been so for long. */
  readonly listed: boolean;
  /** Who of us wrote it, if one of us did: the change is known from the answer to the write. */
  readonly writer: string | undefined;
}

export type CacheChangeListener<T extends KubeObject = KubeObject> = (change: CacheChange<T>) => void;
