/** What is stored of one object: its JSON text, and the little that selectors need without parsing it. */
export interface Entry {
  /** `namespace/name`, or `name` for cluster-scoped kinds: the order of lists. */
  readonly key: string;
  readonly revision: number;
  /** The object in its stored version, resourceVersion included. */
  readonly text: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** The values field selectors may ask for. */
  readonly fields: Readonly<Record<string, string>> | undefined;
}

/** One committed change of a collection. */
export interface Change {
  readonly revision: number;
  readonly key: string;
  /** After the change. For a deletion: the object's last state, at the deletion's revision. */
  readonly entry: Entry;
  /** Before the change; undefined for a creation. */
  readonly previous: Entry | undefined;
  readonly deleted: boolean;
  /** Wall-clock milliseconds, for compaction by age. */
  readonly at: number;
}

/**
 * The objects of one resource, in key order, and their recent changes. Watchers hold no queue of their own: each is a
 * position in the shared log of changes, so a watcher that cannot keep up costs nothing and is told so (see
 * {@link changesAfter}) when the log has been trimmed past it.
 */
export class Collection {
  readonly #entries: Map<string, Entry>;
  readonly #keys: string[];
  #log: Change[];
  /** Changes up to and including this revision are no longer in the log. */
  #compacted: number;
  bytes = 0;

  constructor(compacted = 0, from?: Collection) {
    this.#compacted = from ? from.#compacted : compacted;
    this.#entries = from ? new Map(from.#entries) : new Map();
    this.#keys = from ? from.#keys.slice() : [];
    this.#log = from ? from.#log.slice() : [];
    this.bytes = from?.bytes ?? 0;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  /** The entries from `start` on (or of one namespace with `prefix`), in key order. */
  *scan(prefix: string, after?: string): Generator<Entry> {
    let i = after === undefined ? this.#position(prefix) : this.#position(`${after}\0`);
    for (; i < this.#keys.length; i++) {
      const key = this.#keys[i]!;
      if (!key.startsWith(prefix)) return;
      yield this.#entries.get(key)!;
    }
  }

  /** How many entries {@link scan} would still yield. */
  countAfter(prefix: string, after: string): number {
    return this.#position(`${prefix}\uffff`) - this.#position(`${after}\0`);
  }

  apply(change: Change): void {
    const { key, entry, previous, deleted } = change;
    if (deleted) {
      this.#entries.delete(key);
      this.#keys.splice(this.#position(key), 1);
    } else {
      if (!previous) this.#keys.splice(this.#position(key), 0, key);
      this.#entries.set(key, entry);
    }
    this.bytes += (deleted ? 0 : entry.text.length) - (previous?.text.length ?? 0);
    this.#log.push(change);
  }

  /** Puts an entry in place without a change, when state is loaded from elsewhere. */
  load(entry: Entry): void {
    if (!this.#entries.has(entry.key)) this.#keys.splice(this.#position(entry.key), 0, entry.key);
    this.#entries.set(entry.key, entry);
    this.bytes += entry.text.length;
  }

  /** The changes after a revision, or undefined when some of them have been compacted away. */
  changesAfter(revision: number): readonly Change[] | undefined {
    if (revision < this.#compacted) return undefined;
    const log = this.#log;
    if (log.length === 0 || log[log.length - 1]!.revision <= revision) return [];
    let low = 0;
    let high = log.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (log[middle]!.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return log.slice(low);
  }

  /** This collection as it was at an earlier revision, or undefined when the log does not reach back that far. */
  at(revision: number): Collection | undefined {
    const changes = this.changesAfter(revision);
    if (!changes) return undefined;
    if (changes.length === 0) return this;
    const past = new Collection(0, this);
    for (let i = changes.length - 1; i >= 0; i--) past.#undo(changes[i]!);
    return past;
  }

  /** Forgets changes made before `time`, and the oldest ones beyond `most`. */
  compact(time: number, most: number): void {
    const log = this.#log;
    let drop = Math.max(0, log.length - most);
    while (drop < log.length && log[drop]!.at < time) drop++;
    if (drop === 0) return;
    this.#compacted = log[drop - 1]!.revision;
    this.#log = log.slice(drop);
  }

  #undo({ key, previous, deleted }: Change): void {
    if (previous) {
      if (deleted) this.#keys.splice(this.#position(key), 0, key);
      this.#entries.set(key, previous);
    } else {
      this.#entries.delete(key);
      this.#keys.splice(this.#position(key), 1);
    }
  }

  /** The index of the first key that is not before `key`. */
  #position(key: string): number {
    const keys = this.#keys;
    let low = 0;
    let high = keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
