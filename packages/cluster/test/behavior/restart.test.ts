import assert from "node:assert/strict";
import { test } from "node:test";
import { BUILT_IN_CONTROLLERS, startCluster } from "@konverge/cluster";
import { ownerReference, VirtualClock } from "@konverge/core";
import { ConfigMap, Deployment, Namespace, Pod } from "@konverge/kinds";
import { labelsOf, template } from "./stage.ts";
import { during } from "./stages.ts";

test("after a restart, what was missed in between is made up for", async () => {
  const clock = new VirtualClock();
  const before = await during(clock, startCluster({ clock, parts: [] }));
  const { client } = before;
  const namespace = "default";
  await during(
    clock,
    client.create(Namespace, { metadata: { name: namespace } }).catch(() => undefined),
  );
  const owner = await during(clock, client.create(ConfigMap, { metadata: { name: "owner", namespace } }));
  const ownerReferences = [ownerReference(ConfigMap, owner, { controller: false })];
  await during(clock, client.create(ConfigMap, { metadata: { name: "child", namespace, ownerReferences } }));
  await during(clock, client.delete(ConfigMap, `${namespace}/owner`));
  const spec = { replicas: 2, selector: { matchLabels: { ...labelsOf } }, template: template() };
  await during(clock, client.create(Deployment, { metadata: { name: "web", namespace }, spec }));
  const state = before.server.snapshot();
  await during(clock, before.stop());

  const after = await during(clock, startCluster({ clock, parts: BUILT_IN_CONTROLLERS, server: { state } }));
  await clock.advance(5_000);
  const maps = (await during(clock, after.client.list(ConfigMap, { namespace }))).items;
  assert.ok(!maps.some(({ metadata }) => metadata.name === "child"));
  const pods = (await during(clock, after.client.list(Pod, { namespace }))).items;
  assert.equal(pods.length, 2);
  await during(clock, after.stop());
});

test("a fresh cluster runs only what has something to do", async () => {
  const clock = new VirtualClock();
  const cluster = await during(clock, startCluster({ clock, parts: BUILT_IN_CONTROLLERS }));
  await clock.advance(1_000);
  const atFirst = cluster.controlPlane.running;
  assert.ok(!atFirst.includes("deployment-controller"), atFirst.join());
  const spec = { replicas: 1, selector: { matchLabels: { ...labelsOf } }, template: template() };
  await during(clock, cluster.client.create(Deployment, { metadata: { name: "web", namespace: "default" }, spec }));
  await clock.advance(1_000);
  const later = cluster.controlPlane.running.filter((name) => !atFirst.includes(name));
  assert.deepEqual(later, ["deployment-controller", "replicaset-controller", "ephemeral-volume-controller"]);
  await during(clock, cluster.stop());
});
