import type { Collection } from "./collection.ts";
import type { StoredChange } from "./entry.ts";

/** The whole state at one moment. It never changes, and taking it costs next to nothing: see {@link Collection.fork}. */
export interface Snapshot {
  readonly revision: number;
  /** Before this revision there is no history. */
  readonly compacted: number;
  readonly collections: ReadonlyMap<string, Collection>;
}

/** A change, and the resource it is of. */
export interface JournalRecord {
  readonly resource: string;
  readonly change: StoredChange;
}

/** Where changes are kept beyond the process. Each call is all or nothing: when it throws, nothing of it was kept. */
export interface Journal {
  /** The state as far as it was kept; undefined when the journal is new. */
  load(): Snapshot | undefined;
  /** Returns when the changes will survive the process. */
  append(records: readonly JournalRecord[]): void;
  /** Changes up to and including this revision need not be kept apart any more. */
  compact(revision: number): void;
  /** Starts again from this state. */
  replace(state: Snapshot): void;
  close(): void;
}
