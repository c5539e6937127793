import assert from "node:assert/strict";
import { isNotFound, ownerReference } from "konverge";
import { ConfigMap } from "konverge/kinds";
import type { Place } from "../test/place.ts";
import { FORMER, Garden, gardens, takeGardens } from "./takeover.ts";

export async function scenario({ client, namespace, install, run, until }: Place): Promise<void> {
  await install(Garden);
  // The other operator wrote by updates, as most do.
  const written = { fieldManager: FORMER };
  const metadata = {
    name: "g",
    namespace,
    labels: { "former.example.com/managed": "true" },
    finalizers: ["former.example.com/cleanup"],
  };
  const garden = await client.create(Garden.new({ metadata, spec: { plant: "rose" } }), written);
  const place = { name: "g", namespace, ownerReferences: [ownerReference(Garden, garden)] };
  await client.create(ConfigMap, { metadata: place, data: { plant: "weed", tool: "spade" } }, written);

  await takeGardens(client, namespace);
  await run(gardens);
  const map = () => client.get(ConfigMap, `${namespace}/g`);
  await until("the child is ours", async () => (await map()).data?.["plant"] === "rose");
  assert.deepEqual((await map()).data, { plant: "rose" });
  await until("the status is ours", async () => {
    return (await client.get(Garden, `${namespace}/g`)).status?.plant === "rose";
  });
  assert.equal((await client.get(Garden, `${namespace}/g`)).metadata.labels, undefined);
  await client.delete(Garden, `${namespace}/g`);
  await until("nothing holds it", () => client.get(Garden, `${namespace}/g`).then(() => false, isNotFound));
}
