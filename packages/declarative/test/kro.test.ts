import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnyObject } from "@konverge/core";
import { ResourceGraphDefinition } from "@konverge/declarative";
import { ConfigMap, Deployment, Service } from "@konverge/kinds";
import { conditionOf, kroCluster } from "./fixture.ts";
import { WEB_APP, webApp } from "./web-app.ts";

test("a graph becomes a kind, and an instance its objects and a status", async () => {
  await using kro = await kroCluster();
  await kro.graph(WEB_APP);
  const graph = await kro.client.get(ResourceGraphDefinition, "web-app");
  assert.equal(graph.status?.state, "Active", JSON.stringify(graph.status));
  assert.deepEqual(graph.status?.topologicalOrder, ["deployment", "service", "settings"]);
  assert.equal(conditionOf(graph, "Ready"), "True Ready: ");
  const kind = await kro.create(webApp("shop"));
  await kro.cluster.settled();
  const instance = (await kro.client.get(kind, "default/shop")) as AnyObject & { status: Record<string, unknown> };
  assert.equal(instance.status["state"], "ACTIVE", JSON.stringify(instance.status));
  assert.equal(instance.status["available"], 2);
  assert.equal(instance.status["text"], "shop-nginx:1.29");
  assert.match(String(instance.status["address"]), /^10\..*:80$/);
  assert.equal((await kro.client.get(ConfigMap, "default/shop-b")).data?.["value"], "b");
});

test("drift is repaired, what a graph leaves out is pruned, and deletion goes in reverse order", async () => {
  await using kro = await kroCluster();
  await kro.graph(WEB_APP);
  const kind = await kro.create(webApp("shop"));
  await kro.cluster.settled();
  await kro.client.patch(Deployment, "default/shop", { merge: { spec: { replicas: 5 } } });
  await kro.client.delete(ConfigMap, "default/shop-a");
  await kro.cluster.settled();
  assert.equal((await kro.client.get(Deployment, "default/shop")).spec?.replicas, 2);
  assert.equal((await kro.client.get(ConfigMap, "default/shop-a")).data?.["value"], "a");
  await kro.client.patch(kind, "default/shop", { merge: { spec: { expose: false, settings: ["b"] } } } as never);
  await kro.cluster.settled();
  await assert.rejects(kro.client.get(Service, "default/shop"), /not found/);
  await assert.rejects(kro.client.get(ConfigMap, "default/shop-a"), /not found/);
  await kro.client.delete(kind, "default/shop");
  await kro.cluster.settled();
  await assert.rejects(kro.client.get(kind, "default/shop"), /not found/);
  await assert.rejects(kro.client.get(Deployment, "default/shop"), /not found/);
});
