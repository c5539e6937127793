import assert from "node:assert/strict";
import type { Place } from "../test/place.ts";
import { Tank, tankWebhooks } from "./webhooks.ts";

export async function scenario({ client, namespace, warnings, install, serve, until }: Place): Promise<void> {
  await install(Tank);
  await serve(tankWebhooks, "tanks");
  const tank = (litres: number) => Tank.new({ metadata: { name: "t", namespace }, spec: { litres } });
  await until("the webhooks are asked", async () => {
    return (await client.create(Tank, tank(1), { dryRun: true })).spec.owner !== undefined;
  });
  const made = await client.create(Tank, tank(2_000));
  assert.equal(typeof made.spec.owner, "string");
  assert.ok(warnings.includes("a tank this large needs a permit"));
  await assert.rejects(
    client.patch(Tank, `${namespace}/t`, { merge: { spec: { litres: 5 } } }),
    /spec\.litres: Forbidden: a tank cannot shrink/,
  );
}
