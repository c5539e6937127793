/** Part of the whole that one address may hold: another pod must not shut out the API server. */
const OF_ONE_ADDRESS = 1 / 4;

/** How much memory the bodies of all requests under way may take: anyone who reaches the port can send some. */
export class BodyBudget {
  readonly #most: number;
  #held = 0;
  readonly #byAddress = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Takes bytes for a request of an address; false when that is beyond what is there, or beyond its part. */
  take(address: string, bytes: number): boolean {
    const own = (this.#byAddress.get(address) ?? 0) + bytes;
    if (this.#held + bytes > this.#most || own > this.#most * OF_ONE_ADDRESS) return false;
    this.#held += bytes;
    this.#byAddress.set(address, own);
    return true;
  }

  release(address: string, bytes: number): void {
    const own = (this.#byAddress.get(address) ?? 0) - bytes;
    this.#held -= bytes;
    if (own > 0) this.#byAddress.set(address, own);
    else this.#byAddress.delete(address);
  }
}
