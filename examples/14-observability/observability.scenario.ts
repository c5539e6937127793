import assert from "node:assert/strict";
import type { Place } from "../test/place.ts";
import { Plant, plantMetrics, plants, probes } from "./observability.ts";

export async function scenario({ client, namespace, install, run, until }: Place): Promise<void> {
  await install(Plant);
  const metrics = plantMetrics(client.clock);
  const manager = await run(plants, { observers: [metrics] });
  const ask = probes(manager, metrics);
  const get = async (path: string) => ask({ method: "GET", path, headers: {} });
  assert.equal((await get("/healthz")).status, 200);
  assert.equal((await get("/readyz")).status, 200);
  await client.create(Plant.new({ metadata: { name: "ivy", namespace }, spec: { water: 2 } }));
  await until("it has grown", async () => (await client.get(Plant, `${namespace}/ivy`)).status?.height === 4);
  await until("the reconcile is counted", async () => {
    const text = String((await get("/metrics")).body);
    return /controller_runtime_reconcile_total\{controller="plants\.examples\.konverge\.dev",result="success"\} [1-9]/.test(
      text,
    );
  });
}
