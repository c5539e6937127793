import { tooManyRequests } from "@konverge/core";
import { MASTERS, UNAUTHENTICATED, type User } from "../auth/user.ts";

/** Parts of the whole: the first three pools together are all of it. */
const OF_ADMINISTRATORS = 1 / 4;
const OF_ANONYMOUS = 1 / 16;
const OF_OTHERS = 1 - OF_ADMINISTRATORS - OF_ANONYMOUS;
const OF_ONE_USER = 1 / 4;

/** The bytes that one request holds of a budget. */
export interface HeldBytes {
  /** Takes more of them; throws 429 when that is beyond the user's share. */
  take(bytes: number): void;
  release(): void;
}

/**
 * How much memory the bodies of all requests under way may take, and who may take how much of it: administrators and
 * unauthenticated clients have shares that no others can fill, and no single user can fill the rest.
 */
export class BodyBudget {
  readonly #most: number;
  /** By pool and by user, as long as they hold something. */
  readonly #held = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** For one request of a user. Without users there are no shares. */
  open(user: User | undefined): HeldBytes {
    const accounts = this.#accountsOf(user);
    let held = 0;
    return {
      take: (bytes) => {
        if (accounts.some(([name, most]) => (this.#held.get(name) ?? 0) + bytes > most))
          throw tooManyRequests("Too many requests, please try again later.", 1);
        held += bytes;
        for (const [name] of accounts) this.#add(name, bytes);
      },
      release: () => {
        for (const [name] of accounts) this.#add(name, -held);
        held = 0;
      },
    };
  }

  #accountsOf(user: User | undefined): readonly (readonly [name: string, most: number])[] {
    if (!user) return [["all", this.#most]];
    if (user.groups.includes(MASTERS)) return [["administrators", this.#most * OF_ADMINISTRATORS]];
    if (user.groups.includes(UNAUTHENTICATED)) return [["anonymous", this.#most * OF_ANONYMOUS]];
    return [
      ["others", this.#most * OF_OTHERS],
      [`user ${user.name}`, this.#most * OF_ONE_USER],
    ];
  }

  #add(name: string, bytes: number): void {
    const held = (this.#held.get(name) ?? 0) + bytes;
    if (held === 0) this.#held.delete(name);
    else this.#held.set(name, held);
  }
}
