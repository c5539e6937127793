import { type Clock, type Random, sleep } from "@konverge/core";
import type { RealCluster } from "@konverge/real";
import { leaderOf } from "./leadership.ts";
import type { Replica } from "./replica.ts";

/** The two processes of an operator. */
export type Pair = readonly [Replica, Replica];

/** Longer than a lease is valid: the other replica takes it. */
const LONGER_THAN_A_LEASE = 22_000;

/** Injects faults, one after another, while a share of all requests fails. */
export class Storm {
  readonly #cluster: RealCluster;
  readonly #pairs: readonly Pair[];
  readonly #clock: Clock;
  readonly #random: Random;
  /** How often each thing happened. */
  readonly counts: Record<string, number> = {};

  constructor(cluster: RealCluster, pairs: readonly Pair[], clock: Clock, random: Random) {
    this.#cluster = cluster;
    this.#pairs = pairs;
    this.#clock = clock;
    this.#random = random;
  }

  /** In each round, one thing happens to the control plane, and one to the leader of each operator. */
  async run(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      await Promise.all([this.#hitControlPlane(), ...this.#pairs.map((pair) => this.#hitLeader(pair))]);
    }
  }

  async #hitControlPlane(): Promise<void> {
    await this.#pause(4_000);
    if (this.#random.below(2) === 0) {
      this.#count("API server killed");
      await this.#cluster.restartApiServer("SIGKILL");
    } else {
      this.#count("etcd killed");
      await this.#cluster.etcd.restart();
    }
    await this.#pause(4_000);
  }

  async #hitLeader(pair: Pair): Promise<void> {
    await this.#pause(10_000);
    const leader = pair[leaderOf(pair.map(({ network }) => network)) ?? 0]!;
    switch (this.#random.below(4)) {
      case 0:
        this.#count("leader's network cut");
        leader.network.cut(true);
        await sleep(this.#clock, LONGER_THAN_A_LEASE);
        leader.network.cut(false);
        break;
      case 1:
        this.#count("leader stopped for a while");
        leader.signal("SIGSTOP");
        await sleep(this.#clock, LONGER_THAN_A_LEASE);
        leader.signal("SIGCONT");
        break;
      case 2:
        this.#count("leader killed");
        leader.signal("SIGKILL");
        break;
      default:
        this.#count("leader asked to end");
        leader.signal("SIGTERM");
    }
    await this.#pause(10_000);
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  #pause(most: number): Promise<void> {
    return sleep(this.#clock, this.#random.below(most));
  }
}
