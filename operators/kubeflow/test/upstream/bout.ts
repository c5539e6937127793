import { test } from "node:test";
import type { JobObject } from "@konverge/kubeflow-operator";
import type { KindRef } from "konverge";
import { job, type Kind, type ReplicaWish } from "../jobs.ts";
import type { Arena } from "./arena.ts";
import type { Difference } from "./differences.ts";
import { Duel } from "./duel.ts";

/** Where the duels of one test are held. */
export class Ring {
  readonly #arena: Arena;
  readonly #suffix: string;

  constructor(arena: Arena, suffix: string) {
    this.#arena = arena;
    this.#suffix = suffix;
  }

  /** A duel about a job that is still to be applied. */
  duel(kind: Kind, name: string, ...differences: Difference[]): Duel {
    const { client, sides } = this.#arena;
    return new Duel(
      client,
      sides,
      { kind: kind.kind as KindRef<JobObject>, name: `${name}${this.#suffix}` },
      differences,
    );
  }

  /** A duel about a job that both sides have seen. */
  async begin(
    kind: Kind,
    name: string,
    replicas: Readonly<Record<string, ReplicaWish>>,
    spec: object = {},
    ...differences: Difference[]
  ): Promise<Duel> {
    const one = this.duel(kind, name, ...differences);
    await one.apply(job(kind, name, replicas, spec));
    await one.agree({ state: "Created" });
    return one;
  }
}

/**
 * A test of duels. Upstream decides by what its cache saw last, and where that is old it makes pods anew that it has just
 * deleted, for good. What the two do not agree on is therefore fought out once more, with another job: only a difference
 * that comes again is one.
 */
export function bout(title: string, open: () => Arena, fight: (ring: Ring) => Promise<void>): void {
  test(title, async (t) => {
    try {
      await fight(new Ring(open(), ""));
    } catch (error) {
      t.diagnostic(`fought again after: ${(error as Error).message.split("\n")[0]}`);
      await fight(new Ring(open(), "-again"));
    }
  });
}
