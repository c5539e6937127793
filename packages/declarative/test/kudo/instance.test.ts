import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, Deployment, Job, Service } from "@konverge/kinds";
import { CACHE_PACKAGE } from "./cache-package.ts";
import { kudoCluster, packageFolder } from "./kudo-cluster.ts";

test("an instance runs its deploy plan step by step, and is ready when its objects are", async () => {
  using cache = packageFolder(CACHE_PACKAGE);
  await using kudo = await kudoCluster();
  await kudo.install("shop", await kudo.version(cache.path));
  assert.equal(await kudo.plan("shop", "deploy"), "COMPLETE: prepare COMPLETE, serve COMPLETE");
  assert.equal(await kudo.plan("shop", "backup"), "NEVER_RUN: run NEVER_RUN, remove NEVER_RUN");
  assert.equal(await kudo.condition("shop", "Ready"), "True ResourcesReady: ");
  const { spec } = await kudo.read("shop");
  assert.equal(spec?.planExecution, undefined);
  // Immutable defaults become values.
  assert.deepEqual(spec?.parameters, { DISK: "small" });
  const deployment = await kudo.client.get(Deployment, "default/shop");
  assert.equal(deployment.spec?.replicas, 2);
  assert.equal(deployment.metadata.labels?.["kudo.dev/instance"], "shop");
  assert.equal(deployment.metadata.annotations?.["kudo.dev/step"], "serve");
});

test("drift is repaired with the parameters that a plan was started with", async () => {
  using cache = packageFolder(CACHE_PACKAGE);
  await using kudo = await kudoCluster();
  await kudo.install("shop", await kudo.version(cache.path));
  await kudo.client.patch(Deployment, "default/shop", { merge: { spec: { replicas: 7 } } });
  await kudo.client.delete(ConfigMap, "default/shop-settings");
  await kudo.cluster.settled();
  assert.equal((await kudo.client.get(Deployment, "default/shop")).spec?.replicas, 2);
  assert.equal((await kudo.client.get(ConfigMap, "default/shop-settings")).data?.["greeting"], "hello");
});

test("a changed parameter runs the plan that it triggers, or else the deploy plan", async () => {
  using cache = packageFolder(CACHE_PACKAGE);
  await using kudo = await kudoCluster();
  await kudo.install("shop", await kudo.version(cache.path));
  const hash = async () =>
    (await kudo.client.get(Deployment, "default/shop")).spec?.template.metadata?.annotations?.[
      "kudo.dev/dependencies-hash"
    ];
  const before = await hash();
  await kudo.change("shop", { parameters: { GREETING: "good morning", METRICS: "true" } });
  assert.equal((await kudo.client.get(ConfigMap, "default/shop-settings")).data?.["greeting"], "good morning");
  await kudo.client.get(Service, "default/shop-metrics");
  assert.notEqual(await hash(), before);
  await kudo.change("shop", { parameters: { METRICS: "false" } });
  await assert.rejects(kudo.client.get(Service, "default/shop-metrics"), /not found/);
  await kudo.change("shop", { parameters: { TARGET: "there" } });
  assert.equal(await kudo.plan("shop", "backup"), "COMPLETE: run COMPLETE, remove COMPLETE");
  // The plan's last step deletes it.
  await assert.rejects(kudo.client.get(Job, "default/shop-backup"), /not found/);
});

test("a plan that is requested runs once, and what may not change is refused in a condition", async () => {
  using cache = packageFolder(CACHE_PACKAGE);
  await using kudo = await kudoCluster();
  await kudo.install("shop", await kudo.version(cache.path));
  await kudo.change("shop", { planExecution: { planName: "backup" } });
  assert.equal(await kudo.plan("shop", "backup"), "COMPLETE: run COMPLETE, remove COMPLETE");
  await kudo.change("shop", { parameters: { DISK: "large" } });
  assert.equal(
    await kudo.condition("shop", "Ready"),
    "False InvalidChange: parameter 'DISK' is immutable but was changed from 'small' to 'large'",
  );
  assert.equal((await kudo.client.get(ConfigMap, "default/shop-settings")).data?.["disk"], "small");
  await kudo.change("shop", { parameters: { DISK: "small" } });
  assert.equal(await kudo.condition("shop", "Ready"), "True ResourcesReady: ");
});

test("the cleanup plan runs before an instance is deleted", async () => {
  using cache = packageFolder(CACHE_PACKAGE);
  await using kudo = await kudoCluster();
  await kudo.install("shop", await kudo.version(cache.path));
  const farewells: string[] = [];
  const watch = (async () => {
    for await (const event of kudo.client.watch(Job)) {
      if (event.type === "ADDED") farewells.push(event.object.metadata.name!);
      if (event.type === "DELETED") break;
    }
  })();
  await kudo.delete("shop");
  await watch;
  assert.deepEqual(farewells, ["shop-farewell"]);
  await assert.rejects(kudo.read("shop"), /not found/);
  await assert.rejects(kudo.client.get(Deployment, "default/shop"), /not found/);
});

test("a template that cannot be rendered ends the plan with its file, line and expression", async () => {
  const server = CACHE_PACKAGE["templates/server.yaml"].replace(".Params.REPLICAS", ".Params.REPLICA");
  using cache = packageFolder({ ...CACHE_PACKAGE, "templates/server.yaml": server });
  await using kudo = await kudoCluster();
  await kudo.install("shop", await kudo.version(cache.path));
  assert.equal(await kudo.plan("shop", "deploy"), "FATAL_ERROR: prepare COMPLETE, serve FATAL_ERROR");
  assert.match(
    await kudo.condition("shop", "Ready"),
    /^Unknown PlanInFatalError: .* default\/shop failed in deploy.main.serve.server: .*server.yaml:7:22: .*map has no entry for key "REPLICA"/,
  );
});

test("an instance without its OperatorVersion says so, and is deployed when it is there", async () => {
  using cache = packageFolder(CACHE_PACKAGE);
  await using kudo = await kudoCluster();
  await kudo.install("shop", "cache-1.0.0");
  await kudo.cluster.settled();
  await kudo.version(cache.path);
  await kudo.cluster.settled();
  assert.equal(await kudo.plan("shop", "deploy"), "COMPLETE: prepare COMPLETE, serve COMPLETE");
});
