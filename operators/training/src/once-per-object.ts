/**
 * Says whether something is seen for the first time, for each object. A pass may be repeated before its outcome shows in
 * the object, and must not be counted again; once it shows, nothing needs to be remembered.
 */
export class OncePerObject {
  readonly #seen = new Set<string>();

  /** True the first time for this object. */
  first(uid: string): boolean {
    if (this.#seen.has(uid)) return false;
    this.#seen.add(uid);
    return true;
  }

  /** The object itself tells it now, or is gone. */
  forget(uid: string): void {
    this.#seen.delete(uid);
  }
}
