import assert from "node:assert/strict";
import { Database, databaseOperator } from "@konverge/database-operator";
import type { TestEnvironment } from "@konverge/operator-suite";
import { Node, Pod } from "konverge/kinds";
import { PretendServers } from "./pretend-servers.ts";
import { cordon } from "./replica-stage.ts";

/** What a drain of all nodes cost one Database. */
export interface DrainResult {
  readonly name: string;
  /** The longest times without an acknowledged write, in seconds, longest first. A write is attempted each second. */
  readonly gaps: readonly number[];
  readonly acknowledged: number;
}

/** Databases with three servers, one of which has to confirm each commit: each has servers, and clients that write. */
class Fleet {
  readonly #servers = new Map<string, PretendServers>();
  readonly #stage: TestEnvironment;

  constructor(stage: TestEnvironment, count: number) {
    this.#stage = stage;
    for (let number = 1; number <= count; number++) {
      const servers = new PretendServers(stage);
      servers.play(`registry.example.com/postgres-${number}`);
      servers.stopTakes = 1;
      servers.promotionTakes = 1;
      this.#servers.set(`postgres-${number}`, servers);
    }
  }

  async create(): Promise<void> {
    await this.#stage.start(databaseOperator);
    for (const name of this.#servers.keys()) {
      const image = `registry.example.com/${name}:16.4`;
      const spec = { version: "16.4", size: "5Gi", instances: 3, synchronous: 1, image };
      await this.#stage.apply({ apiVersion: "example.com/v1", kind: "Database", metadata: { name }, spec });
    }
    await this.areReady();
  }

  async areReady(): Promise<void> {
    await this.#stage.until("all databases are ready", async () => {
      const all = await this.#stage.list(Database);
      return all.every(
        ({ status }) =>
          status?.conditions?.some(({ type, reason }) => type === "Ready" && reason === "Running") &&
          status.servers?.filter(({ role }) => role === "standby").length === 2,
      );
    });
  }

  /** What is known now: nothing that was acknowledged is lost. */
  async results(since: number): Promise<DrainResult[]> {
    const databases = await this.#stage.list(Database);
    return databases.map(({ metadata: { name }, status }) => {
      const servers = this.#servers.get(name)!;
      servers.nothingLost(status!.currentPrimary!);
      assert.deepEqual(servers.wrongs, [], name);
      const times = servers.writtenAt.filter((at) => at >= since);
      const gaps = times.slice(1).map((at, index) => (at - times[index]!) / 1000);
      return {
        name,
        gaps: gaps.filter((gap) => gap > 1).sort((a, b) => b - a),
        acknowledged: servers.acknowledged.length,
      };
    });
  }
}

/** Drains one node after the other, as `kubectl drain` does: a pod that a budget protects is tried again after five seconds. */
async function drain(stage: TestEnvironment, node: string): Promise<void> {
  await cordon(stage, node, true);
  await stage.until(`${node} is empty`, async () => {
    const pods = (await stage.list(Pod)).filter(({ spec }) => spec?.nodeName === node);
    for (const { metadata } of pods.filter((pod) => pod.metadata.deletionTimestamp === undefined)) {
      await stage.client.evict(`${stage.namespace}/${metadata.name}`, { timeout: 1_000 }).catch((error: unknown) => {
        if (!/disruption budget/.test(String(error))) throw error;
      });
    }
    if (pods.length > 0) await stage.advance(5_000);
    return pods.length === 0;
  });
  await cordon(stage, node, false);
}

/** All nodes are drained, one after the other, under this number of databases. */
export async function drainsAll(stage: TestEnvironment, count: number): Promise<DrainResult[]> {
  const fleet = new Fleet(stage, count);
  await fleet.create();
  const since = stage.clock.now();
  for (const { metadata } of await stage.list(Node)) {
    await drain(stage, metadata.name);
    await fleet.areReady();
  }
  return fleet.results(since);
}

/** The results in a line: of how many hand-overs, and how long the times without a writer were. */
export function drainText(results: readonly DrainResult[]): string {
  const gaps = results.flatMap((one) => one.gaps).sort((a, b) => a - b);
  const at = (part: number) => gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * part))] ?? 0;
  const acknowledged = results.reduce((sum, one) => sum + one.acknowledged, 0);
  return (
    `${results.length} databases, ${acknowledged} acknowledged commits, 0 lost; ${gaps.length} times without a writer for more than a ` +
    `second: median ${at(0.5)} s, 95 % ${at(0.95)} s, longest ${gaps.at(-1) ?? 0} s`
  );
}
