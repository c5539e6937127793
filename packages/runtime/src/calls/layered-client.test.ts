import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "@konverge/client";
import { ConfigMap } from "@konverge/kinds";
import type { LayeredCall } from "./layered-call.ts";
import { layeredClient } from "./layered-client.ts";

/** A client with a verb that no layer knows. */
class LaterClient extends Client {
  async wipe(): Promise<void> {
    await this.caller.text({ method: "DELETE", path: "/api/v1/namespaces/default/configmaps" });
  }
}

const requests: string[] = [];
const inner = new LaterClient(async ({ method, path }) => {
  requests.push(`${method} ${path}`);
  throw new Error("no server");
});
const calls: LayeredCall[] = [];
const layered = layeredClient(
  inner,
  async (call) => {
    calls.push(call);
    return { metadata: {}, items: [] } as never;
  },
  "manager",
) as LaterClient;

test("a verb that the layer does not know cannot be used", () => {
  assert.throws(() => layered.wipe(), /client\.wipe cannot be used here/);
  assert.throws(() => Reflect.get(layered, "caller"), /client\.caller cannot be used here/);
  assert.deepEqual(requests, []);
});

test("writes go through the layer, and what describes the client does not", async () => {
  await layered.delete(ConfigMap, "a");
  await layered.as({ user: "jane" }).evict("b");
  await layered.apply(ConfigMap.draft({ metadata: { name: "d" } }));
  await layered.patchStatus(ConfigMap, "c", { merge: {} });
  for await (const _ of layered.each(ConfigMap)) assert.fail();
  assert.deepEqual(
    calls.map(({ verb, key, subresource }) => [verb, key, subresource]),
    [
      ["delete", "default/a", undefined],
      ["create", "default/b", "eviction"],
      ["apply", "default/d", undefined],
      ["patch", "default/c", "status"],
      ["list", undefined, undefined],
    ],
  );
  assert.equal(layered.namespace, "default");
  assert.equal(layered.fieldManager, "manager");
  assert.ok(layered instanceof Client);
  assert.equal(await layered, layered);
});
