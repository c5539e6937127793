import assert from "node:assert/strict";
import { isNotFound } from "konverge";
import { ConfigMap } from "konverge/kinds";
import type { Place } from "../test/place.ts";
import { Rollout, rollouts } from "./order.ts";

export async function scenario({ client, namespace, install, run, until }: Place): Promise<void> {
  await install(Rollout);
  await run(rollouts);
  await client.create(Rollout.new({ metadata: { name: "r", namespace }, spec: { version: "1" } }));
  const version = async (name: string) => (await client.get(ConfigMap, `${namespace}/${name}`)).data?.["version"];
  await until("the migration is there", async () => (await version("r-migration")) === "1");
  await assert.rejects(version("r-server"), isNotFound);
  await client.patch(ConfigMap, `${namespace}/r-migration`, { merge: { data: { done: "1" } } });
  await until("the server follows", async () => (await version("r-server")) === "1");
}
