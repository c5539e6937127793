import { ChangeLog } from "./change-log.ts";
import type { Entry, StoredChange } from "./entry.ts";
import { SortedEntries } from "./sorted-entries.ts";

/**
 * The objects of one resource, in key order, and their recent changes. Watchers hold no queue: each is a
 * position in the shared log of changes, so a watcher that cannot keep up costs nothing and gets to know it (see
 * {@link changesAfter}) when the log has been trimmed past it.
 */
export class Collection {
  #entries = new SortedEntries();
  #log: ChangeLog;
  #bytes = 0;
  #compacted = 0;

  /** Empty. What happened up to and including the revision `origin` is not known. */
  constructor(origin = 0) {
    this.#log = new ChangeLog(origin);
  }

  /** A copy that lives its own life; takes constant time. */
  fork(): Collection {
    const fork = new Collection();
    fork.#entries = this.#entries.fork();
    fork.#log = this.#log.fork();
    fork.#bytes = this.#bytes;
    fork.#compacted = this.#compacted;
    return fork;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The length of all objects' texts together. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  /**
   * The entries whose keys start with `prefix`, in key order, from the first one after the key `after` on. Writes that
   * come while a caller is still reading do not show.
   */
  scan(prefix: string, after?: string): Generator<Entry> {
    return this.#entries.scan(prefix, after);
  }

  /** How many entries {@link scan} would yield. */
  countAfter(prefix: string, after: string): number {
    const start = after < prefix ? prefix : `${after}\0`;
    return Math.max(0, this.#entries.rank(`${prefix}\uffff`) - this.#entries.rank(start));
  }

  apply(change: StoredChange): void {
    const { key, entry, previous, deleted } = change;
    if (deleted) this.#entries.delete(key);
    else this.#entries.set(entry);
    this.#bytes += (deleted ? 0 : entry.text.length) - (previous?.text.length ?? 0);
    this.#log.append(change);
  }

  /** Takes the newest change back: it never happened. */
  revert(): void {
    const change = this.#log.pop();
    if (change) this.#undo(change);
  }

  /** Puts an entry in place without a change, when state is loaded from elsewhere. */
  load(entry: Entry): void {
    this.#bytes += entry.text.length - (this.#entries.get(entry.key)?.text.length ?? 0);
    this.#entries.set(entry);
  }

  /**
   * The changes after a revision, or undefined when some of them are forgotten. For a watcher that has got all
   * of them it is never undefined, however long ago that was.
   */
  changesAfter(revision: number): readonly StoredChange[] | undefined {
    return this.#log.after(revision);
  }

  /**
   * This collection as it was at an earlier revision (as it is, for the newest one or a later one), or undefined for
   * one that is forgotten. The state that is returned does not change any more.
   */
  at(revision: number): Collection | undefined {
    const changes = this.changesAfter(revision);
    if (!changes || revision < this.#compacted) return undefined;
    const past = this.fork();
    for (let i = changes.length - 1; i >= 0; i--) past.revert();
    return past;
  }

  /** The newest revision that was made before a wall-clock time; 0 when there is none. */
  newestBefore(time: number): number {
    return this.#log.newestBefore(time);
  }

  /** Forgets all states before a revision, and the changes that led to it. */
  compact(revision: number): void {
    this.#compacted = Math.max(this.#compacted, revision);
    this.#log.drop(revision);
  }

  /** Forgets all changes: what follows them begins at this revision. */
  restart(revision: number): void {
    this.#compacted = revision;
    this.#log = new ChangeLog(revision);
  }

  #undo({ key, entry, previous, deleted }: StoredChange): void {
    if (previous) this.#entries.set(previous);
    else this.#entries.delete(key);
    this.#bytes += (previous?.text.length ?? 0) - (deleted ? 0 : entry.text.length);
  }
}
