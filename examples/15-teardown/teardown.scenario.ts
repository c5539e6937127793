import assert from "node:assert/strict";
import { isNotFound } from "konverge";
import { ConfigMap } from "konverge/kinds";
import type { Place } from "../test/place.ts";
import { Tower, towers } from "./teardown.ts";

export async function scenario({ client, namespace, install, run, until }: Place): Promise<void> {
  await install(Tower);
  await run(towers);
  await client.create(Tower.new({ metadata: { name: "t", namespace }, spec: { floors: 4 } }));
  const floors = async () =>
    (await client.list(ConfigMap, { namespace })).items
      .map(({ metadata }) => metadata)
      .filter(({ name }) => name.startsWith("t-"));
  await until("it is built", async () => (await floors()).length === 4);
  // A tenant on the third floor blocks the deletion of all floors below.
  const hold = { merge: { metadata: { finalizers: ["examples.konverge.dev/inhabited"] } } };
  await client.patch(ConfigMap, `${namespace}/t-2`, hold);
  await client.patch(Tower, `${namespace}/t`, { merge: { spec: { floors: 1 } } });
  await until("the third floor is being deleted", async () =>
    (await floors()).some(({ name, deletionTimestamp }) => name === "t-2" && deletionTimestamp !== undefined),
  );
  await client.delete(Tower, `${namespace}/t`);
  const standing = (await floors()).filter(({ deletionTimestamp }) => deletionTimestamp === undefined);
  assert.deepEqual(
    standing.map(({ name }) => name),
    ["t-0", "t-1"],
  );
  await client.patch(ConfigMap, `${namespace}/t-2`, {
    json: [{ op: "remove", path: "/metadata/finalizers/0" }],
  });
  await until("the tower is gone", () => client.get(Tower, `${namespace}/t`).then(() => false, isNotFound));
  assert.deepEqual(await floors(), []);
}
