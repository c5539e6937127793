import assert from "node:assert/strict";
import type { Client } from "@konverge/client";
import { Pod } from "@konverge/kinds";
import type { DatabaseServers } from "./postgres.ts";
import { until } from "./waiting.ts";

/** Inserts numbers one after the other, each in a transaction, and prints those that were acknowledged with the time. */
const LOOP = `
n=$FIRST
while :; do
  if timeout 5 psql -X -q -c "insert into written (n) values ($n)"; then echo "acknowledged $n $(date +%s%3N)"; fi
  n=$((n + 1))
done`;

/**
 * A client that writes through the Service of a Database, from a separate pod. A number that was acknowledged must be in the
 * table afterwards; one that was not may be there or not.
 */
export class Writer {
  readonly #client: Client;
  readonly #servers: DatabaseServers;
  readonly #key: string;

  constructor(servers: DatabaseServers, key: string) {
    this.#client = servers.client;
    this.#servers = servers;
    this.#key = key;
  }

  /** Starts a writer, on a node if one is named, and waits until it has written. */
  static async start(servers: DatabaseServers, name: string, first: number, node?: string): Promise<Writer> {
    await servers.sql("create table if not exists written (n bigint primary key)");
    const { namespace } = servers;
    const variable = (key: string) => ({ secretKeyRef: { name: `${servers.name}-credentials`, key } });
    await servers.client.create(Pod, {
      metadata: { name, namespace },
      spec: {
        restartPolicy: "Never",
        terminationGracePeriodSeconds: 0,
        ...(node && { nodeSelector: { "kubernetes.io/hostname": node } }),
        securityContext: { runAsNonRoot: true, runAsUser: 999, seccompProfile: { type: "RuntimeDefault" } },
        containers: [
          {
            name: "writer",
            image: "postgres:15",
            command: ["sh", "-c", LOOP],
            securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
            env: [
              { name: "FIRST", value: String(first) },
              { name: "PGHOST", value: `${servers.name}.${namespace}.svc` },
              { name: "PGUSER", value: "postgres" },
              { name: "PGPASSWORD", valueFrom: variable("password") },
              { name: "PGCONNECT_TIMEOUT", value: "2" },
            ],
          },
        ],
      },
    });
    const writer = new Writer(servers, `${namespace}/${name}`);
    await writer.hasWritten(10);
    return writer;
  }

  /** Waits until `more` further numbers are acknowledged. */
  async hasWritten(more: number): Promise<void> {
    const before = await this.#acknowledged().catch(() => []);
    await until(`${this.#key} has written ${more} times more`, 240, async () =>
      (await this.#acknowledged()).length >= before.length + more ? true : undefined,
    );
  }

  /** Ends it, checks that all that was acknowledged is there, and returns how many and the longest time between two. */
  async check(): Promise<{ acknowledged: number; longestGap: number }> {
    const acknowledged = await this.#acknowledged();
    await this.#client.delete(Pod, this.#key);
    const present = new Set((await this.#servers.sql("select n from written")).split("\n").map(Number));
    const lost = acknowledged.filter(({ n }) => !present.has(n));
    assert.deepEqual(lost, [], "acknowledged and not in the table");
    const gaps = acknowledged.slice(1).map(({ at }, index) => at - acknowledged[index]!.at);
    return { acknowledged: acknowledged.length, longestGap: Math.max(...gaps) / 1000 };
  }

  async #acknowledged(): Promise<{ n: number; at: number }[]> {
    const found: { n: number; at: number }[] = [];
    for await (const line of this.#client.logs(this.#key)) {
      const [, n, at] = /^acknowledged (\d+) (\d+)$/.exec(line) ?? [];
      if (n && at) found.push({ n: Number(n), at: Number(at) });
    }
    return found;
  }
}
