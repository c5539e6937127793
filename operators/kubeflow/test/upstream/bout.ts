import { test } from "node:test";
import type { JobObject } from "@konverge/kubeflow-operator";
import type { KindRef } from "konverge";
import { job, type Kind, type ReplicaSettings } from "../jobs.ts";
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

  /** Compares a job that is still to be applied. */
  duel(kind: Kind, name: string, ...differences: Difference[]): Duel {
    const { client, sides } = this.#arena;
    return new Duel(
      client,
      sides,
      { kind: kind.kind as KindRef<JobObject>, name: `${name}${this.#suffix}` },
      differences,
    );
  }

  /** Compares a job that is applied, and created on both sides. */
  async begin(
    kind: Kind,
    name: string,
    replicas: Readonly<Record<string, ReplicaSettings>>,
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
 * A test that compares both operators. Upstream decides on a cache that may be stale, and then permanently recreates pods
 * that it has just deleted. A difference is therefore tested again with another job: only one that occurs twice counts.
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
