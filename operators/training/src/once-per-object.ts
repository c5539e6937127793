/**
 * Counts something once for each object. A reconcile may be repeated before the cached object shows its outcome, and must
 * not be counted again; once the object shows it, nothing needs to be remembered.
 */
export class OncePerObject {
  readonly #counted = new Set<string>();

  /** True the first time for this object. */
  first(uid: string): boolean {
    if (this.#counted.has(uid)) return false;
    this.#counted.add(uid);
    return true;
  }

  /** The object shows the outcome, or is deleted. */
  forget(uid: string): void {
    this.#counted.delete(uid);
  }
}
