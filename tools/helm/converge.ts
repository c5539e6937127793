// npm run helm:converge [-- --real] [--only PATTERN]
// Installs public charts as they are by operators made of them, on the embedded cluster or on a real control plane with KWOK's nodes,
// waits until each release is ready, deletes it, and waits until all of it is deleted.
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Client, connect } from "@konverge/client";
import { startCluster } from "@konverge/cluster";
import { type AnyObject, isNotFound, type KindRef, type KubeObject, realClock, sleep } from "@konverge/core";
import { helmOperator } from "@konverge/declarative";
import { CustomResourceDefinition, Namespace } from "@konverge/kinds";
import { downloadModule, startRealCluster } from "@konverge/real";
import { Manager, silentLog } from "@konverge/runtime";
import { CONVERGING_CHARTS } from "./charts.ts";

const { values } = parseArgs({ options: { real: { type: "boolean" }, only: { type: "string" } } });
const clock = realClock();
const outcomes = new Map<string, number>();
for (const { module, version, charts } of CONVERGING_CHARTS) {
  for (const chart of charts) {
    if (values.only && !`${module} ${chart}`.includes(values.only)) continue;
    const { Dir } = downloadModule(tmpdir(), `${module}@${version}`);
    const outcome = await tried(join(Dir, chart));
    const word = outcome.split(":")[0]!;
    outcomes.set(word, (outcomes.get(word) ?? 0) + 1);
    console.log(`${module} ${chart}: ${outcome}`);
  }
}
console.log([...outcomes].map(([outcome, count]) => `${outcome}: ${count}`).join(", "));

async function tried(chart: string): Promise<string> {
  try {
    if (!values.real) {
      await using cluster = await startCluster();
      return await converged(cluster.client, chart);
    }
    await using cluster = await startRealCluster({ controllers: true, scheduler: true, kwok: { nodes: 3 } });
    return await converged(await connect({ kubeconfig: cluster.kubeconfig }), chart);
  } catch (error) {
    return `failed: ${(error as Error).message}`;
  }
}

async function converged(client: Client, chart: string): Promise<string> {
  const operator = helmOperator({ chart });
  const kind = operator.kinds[0] as unknown as KindRef<AnyObject>;
  for (const one of operator.kinds)
    await client.create(CustomResourceDefinition, one.crd() as CustomResourceDefinition);
  await client.create(Namespace, { metadata: { name: "shop" } });
  const { controllers } = operator.create({ metrics: undefined as never, settings: {}, log: silentLog });
  const manager = new Manager(controllers, { client });
  await manager.start();
  try {
    const { group, version, kind: name } = kind;
    const release = {
      apiVersion: `${group}/${version}`,
      kind: name,
      metadata: { name: "shop", namespace: "shop" },
      spec: {},
    };
    await within(30_000, async () => void (await client.create(kind, release)));
    const ready = await within(120_000, async () => {
      const state = readiness(await client.get(kind, "shop/shop"));
      if (!state.startsWith("True")) throw new Error(state);
    });
    if (ready) return `not ready: ${ready}`;
    await client.delete(kind, "shop/shop");
    const remains = await within(60_000, () => absent(client, kind));
    return remains ? `not deleted: ${remains}` : "converged";
  } finally {
    await manager.stop();
  }
}

async function absent(client: Client, kind: KindRef<AnyObject>): Promise<void> {
  try {
    const { status, metadata } = await client.get(kind, "shop/shop");
    throw new Error(
      `${metadata.finalizers?.join()} ${JSON.stringify((status as { conditions?: object })?.conditions)}`,
    );
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function readiness({ status }: KubeObject & { status?: unknown }): string {
  const { conditions = [] } = (status ?? {}) as { conditions?: readonly Record<string, string>[] };
  const found = conditions.find(({ type }) => type === "Ready");
  return `${found?.["status"]} ${found?.["reason"]}: ${found?.["message"]}`.slice(0, 400);
}

/** Tries until it succeeds; returns what went wrong last. */
async function within(ms: number, attempt: () => Promise<void>): Promise<string | undefined> {
  const end = clock.monotonic() + ms;
  while (true) {
    try {
      await attempt();
      return undefined;
    } catch (error) {
      if (clock.monotonic() > end) return (error as Error).message;
      await sleep(clock, 500);
    }
  }
}
