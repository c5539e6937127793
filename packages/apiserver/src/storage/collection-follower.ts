import type { Entry } from "./entry.ts";
import type { Store } from "./store.ts";

/** What is kept about the entries of some collections. */
export interface EntryIndex {
  clear(): void;
  /** An entry is there, was changed, or (undefined) was deleted. */
  set(resource: string, key: string, entry: Entry | undefined): void;
}

/**
 * Keeps an index of some collections up to date. While nothing changes, that costs one comparison of revisions; afterward only
 * what has changed is read again.
 */
export class CollectionFollower {
  readonly #store: Store;
  readonly #resources: readonly string[];
  readonly #index: EntryIndex;
  #revision = -1;
  #epoch = -1;

  constructor(store: Store, resources: readonly string[], index: EntryIndex) {
    this.#store = store;
    this.#resources = resources;
    this.#index = index;
  }

  /** Brings the index up to date: call it before each read. */
  follow(): void {
    const { revision, epoch } = this.#store;
    if (revision === this.#revision && epoch === this.#epoch) return;
    if (epoch !== this.#epoch || !this.#applyChanges()) this.#readAll();
    this.#revision = revision;
    this.#epoch = epoch;
  }

  #applyChanges(): boolean {
    for (const resource of this.#resources) {
      const changes = this.#store.collection(resource).changesAfter(this.#revision);
      if (!changes) return false;
      for (const { key, entry, deleted } of changes) this.#index.set(resource, key, deleted ? undefined : entry);
    }
    return true;
  }

  #readAll(): void {
    this.#index.clear();
    for (const resource of this.#resources) {
      for (const entry of this.#store.collection(resource).scan("")) this.#index.set(resource, entry.key, entry);
    }
  }
}
