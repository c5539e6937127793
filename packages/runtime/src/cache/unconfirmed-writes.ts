import type { ObjectKey } from "@konverge/core";
import { compareVersions } from "@konverge/core";

/**
 * Writes of ours that the server has answered and the watch has not shown yet. Until it does, the cache must prefer the
 * answer to what the watch says, since that is older.
 */
export class UnconfirmedWrites {
  readonly #writes = new Map<ObjectKey, string>();
  /** Objects that we deleted: by key their uid, and how many bookmarks have gone by since. */
  readonly #tombstones = new Map<ObjectKey, { uid: string; bookmarks: number }>();

  wrote(key: ObjectKey, resourceVersion: string): void {
    this.#writes.set(key, resourceVersion);
  }

  deleted(key: ObjectKey, uid: string): void {
    this.#writes.delete(key);
    this.#tombstones.set(key, { uid, bookmarks: 0 });
  }

  /** True if this very object was deleted by us: whatever the watch still says about it is from before. */
  isDeleted(key: ObjectKey, uid: string): boolean {
    return this.#tombstones.get(key)?.uid === uid;
  }

  /** True if we have written the object since the state of that version. */
  isNewer(key: ObjectKey, resourceVersion: string): boolean {
    return compareVersions(this.#writes.get(key), resourceVersion) > 0;
  }

  /** The watch has shown the object as of that version. */
  confirm(key: ObjectKey, resourceVersion: string): void {
    const written = this.#writes.get(key);
    if (written !== undefined && compareVersions(written, resourceVersion) <= 0) this.#writes.delete(key);
  }

  /** The watch has shown that the object is gone. */
  confirmDeletion(key: ObjectKey, uid: string): void {
    if (this.isDeleted(key, uid)) this.#tombstones.delete(key);
  }

  /**
   * The watch has shown all there is up to that version. What we wrote before and it did not show is not in its scope:
   * these keys are returned.
   */
  passed(resourceVersion: string): ObjectKey[] {
    const released: ObjectKey[] = [];
    for (const [key, written] of this.#writes) {
      if (compareVersions(written, resourceVersion) > 0) continue;
      this.#writes.delete(key);
      released.push(key);
    }
    return released;
  }

  /**
   * As {@link passed}. An answered deletion tells no version, so a tombstone stays until the deletion is seen, or for two
   * bookmarks, of which the second was sent a good while after the deletion.
   */
  bookmark(resourceVersion: string): ObjectKey[] {
    for (const [key, tombstone] of this.#tombstones) {
      if (++tombstone.bookmarks >= 2) this.#tombstones.delete(key);
    }
    return this.passed(resourceVersion);
  }
}
