import { compareVersions, type ObjectKey } from "@konverge/core";

/** An object that we deleted. */
interface Tombstone {
  /** The last version of it that was known: all that is not newer is from before the deletion, whatever its uid. */
  readonly version: string | undefined;
  /** How many bookmarks have gone by since. */
  bookmarks: number;
}

/**
 * Writes of ours that the server has answered and the watch has not shown yet. Until it does, the cache must prefer the
 * answer to what the watch says, since that is older. Answers may come in another order than the writes were made.
 */
export class UnconfirmedWrites {
  readonly #writes = new Map<ObjectKey, { uid: string; version: string }>();
  /** By key and uid: several objects of the same name may have come and gone. */
  readonly #tombstones = new Map<ObjectKey, Map<string, Tombstone>>();

  wrote(key: ObjectKey, uid: string, version: string): void {
    this.#writes.set(key, { uid, version });
  }

  deleted(key: ObjectKey, uid: string, version: string | undefined): void {
    // What was written since may be a new object of the same name.
    if (this.#writes.get(key)?.uid === uid) this.#writes.delete(key);
    const graves = this.#tombstones.get(key) ?? new Map<string, Tombstone>();
    graves.set(uid, { version, bookmarks: 0 });
    this.#tombstones.set(key, graves);
  }

  /** True if the state of an object is from before a deletion of ours. */
  isDeleted(key: ObjectKey, uid: string, version: string): boolean {
    const graves = this.#tombstones.get(key);
    if (!graves) return false;
    if (graves.has(uid)) return true;
    for (const grave of graves.values()) if (compareVersions(version, grave.version) <= 0) return true;
    return false;
  }

  /** True if we have written the object since the state of that version. */
  isNewer(key: ObjectKey, resourceVersion: string): boolean {
    return compareVersions(this.#writes.get(key)?.version, resourceVersion) > 0;
  }

  /** The watch has shown the object as of that version. */
  confirm(key: ObjectKey, resourceVersion: string): void {
    const written = this.#writes.get(key);
    if (written && compareVersions(written.version, resourceVersion) <= 0) this.#writes.delete(key);
  }

  /** The watch has shown that the object is gone. */
  confirmDeletion(key: ObjectKey, uid: string): void {
    const graves = this.#tombstones.get(key);
    if (graves?.delete(uid) && graves.size === 0) this.#tombstones.delete(key);
  }

  /**
   * The watch has shown all there is up to that version. What we wrote before and it did not show is not in its scope:
   * these keys are returned, but for those of which `isPutOff` says that more is to come.
   */
  passed(resourceVersion: string, isPutOff: (key: ObjectKey) => boolean = () => false): ObjectKey[] {
    const released: ObjectKey[] = [];
    for (const [key, written] of this.#writes) {
      if (compareVersions(written.version, resourceVersion) > 0 || isPutOff(key)) continue;
      this.#writes.delete(key);
      released.push(key);
    }
    return released;
  }

  /**
   * As {@link passed}. An answered deletion tells no version, so a tombstone stays until the deletion is seen, or for two
   * bookmarks, of which the second was sent a good while after the deletion.
   */
  bookmark(resourceVersion: string, isPutOff: (key: ObjectKey) => boolean): ObjectKey[] {
    for (const [key, graves] of this.#tombstones) {
      for (const [uid, grave] of graves) if (++grave.bookmarks >= 2) this.confirmDeletion(key, uid);
    }
    return this.passed(resourceVersion, isPutOff);
  }
}
