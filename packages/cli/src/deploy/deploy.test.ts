import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { AdjustableClock } from "@konverge/cluster";
import { realClock } from "@konverge/core";
import {
  ClusterRole,
  CustomResourceDefinition,
  Deployment,
  Pod,
  Role,
  ServiceAccount,
  ValidatingWebhookConfiguration,
} from "@konverge/kinds";
import { operators as supplied } from "@konverge/operators";
import { commandStage, until } from "../../test/command-stage.ts";
import { Greeting, greetingOperator } from "../../test/greeting-operator.ts";
import { imageOf } from "../commands/image-option.ts";
import { DEFAULT_IMAGE } from "../manifests/defaults.ts";
import { operatorCatalog } from "../operator-image/catalog.ts";
import { OPERATOR_IMAGE, operatorProgram } from "../operator-image/operator-image.ts";
import { deploy, undeploy } from "./deploy.ts";
import { install } from "./install.ts";
import { uninstall } from "./uninstall.ts";

const operators = [greetingOperator];
const MODULE = fileURLToPath(new URL("../../test/greeting-operator.ts", import.meta.url));
const CRD = "greetings.test.example.com";

/** Where what is told is kept. */
function heard() {
  const lines: string[] = [];
  return { lines, options: { namespace: "ops", image: DEFAULT_IMAGE, tell: (text: string) => lines.push(text) } };
}

test("kinds are installed once: doing it again changes nothing, a dry run nothing at all", async () => {
  await using stage = await commandStage();
  const { client } = stage;
  const { lines, options } = heard();
  await install(operators, client, { ...options, dryRun: true });
  await assert.rejects(client.get(CustomResourceDefinition, CRD), /not found/);
  await install(operators, client, options);
  await client.create(Greeting.new({ metadata: { name: "a", namespace: "default" }, spec: { to: "you" } }));
  const before = await client.get(CustomResourceDefinition, CRD);
  await install(operators, client, options);
  const after = await client.get(CustomResourceDefinition, CRD);
  assert.equal(after.metadata.resourceVersion, before.metadata.resourceVersion);
  const name = `customresourcedefinition.apiextensions.k8s.io/${CRD}`;
  const alone = `${CRD} serves v1 alone until its operator converts the other versions: deploy it, or run it with --install --webhooks on`;
  assert.deepEqual(lines, [`${name} created (dry run)`, alone, `${name} created`, alone, `${name} unchanged`, alone]);
});

test("versions without a converter are not served until the operator is deployed", async () => {
  await using stage = await commandStage();
  const { client } = stage;
  const { options } = heard();
  const served = async () => {
    const { spec } = await client.get(CustomResourceDefinition, CRD);
    const names = spec.versions.filter((one) => one.served).map(({ name }) => name);
    return [spec.conversion?.strategy, ...names];
  };
  await install(operators, client, options);
  assert.deepEqual(await served(), ["None", "v1"]);
  await deploy(operators, client, { ...options, noWait: true });
  assert.deepEqual(await served(), ["Webhook", "v1", "v1alpha1"]);
  await install(operators, client, options);
  assert.deepEqual(await served(), ["Webhook", "v1", "v1alpha1"]);
});

test("kinds with objects are removed only when that is meant", async () => {
  await using stage = await commandStage();
  const { client } = stage;
  const { lines, options } = heard();
  await install(operators, client, options);
  await client.create(Greeting.new({ metadata: { name: "a", namespace: "default" }, spec: { to: "you" } }));
  await assert.rejects(uninstall(operators, client, options), /nothing was removed: .* use --force/);
  assert.match(lines.join("\n"), /Greeting: 1 \(default\/a\)/);
  await assert.rejects(uninstall(operators, client, { ...options, confirm: async () => false }), /nothing was removed/);
  await client.get(CustomResourceDefinition, CRD);
  await uninstall(operators, client, { ...options, confirm: async () => true });
  await assert.rejects(client.get(CustomResourceDefinition, CRD), /not found/);
  await uninstall(operators, client, options);
});

test("an object that a finalizer holds back is named when its kind cannot go", async () => {
  await using stage = await commandStage();
  const { client } = stage;
  const { options } = heard();
  await install(operators, client, options);
  const metadata = { name: "held", namespace: "default", finalizers: ["test.example.com/wait"] };
  await client.create(Greeting, { ...Greeting.new({ metadata, spec: { to: "you" } }), metadata });
  await assert.rejects(
    uninstall(operators, client, { ...options, force: true, timeout: 200 }),
    /finalizers block default\/held \(test\.example\.com\/wait\)\nIs the operator running\?/,
  );
});

test("a deployment brings its namespace, roles, webhooks and Deployment, and goes without its kinds", async () => {
  await using stage = await commandStage();
  const { client, cluster } = stage;
  cluster.image(OPERATOR_IMAGE, {
    run: operatorProgram(await operatorCatalog({ modules: [MODULE] }), { clock: cluster.clock }),
  });
  const { lines, options } = heard();
  await deploy(operators, client, { ...options, dryRun: true });
  await assert.rejects(client.get(ServiceAccount, "ops/greeting-operator"), /not found/);
  await deploy(operators, client, options);
  assert.equal(lines.at(-1), "deployment.apps/greeting-operator is available");
  const deployment = await client.get(Deployment, "ops/greeting-operator");
  assert.equal(deployment.status?.availableReplicas, 1);
  const role = await client.get(Role, "ops/greeting-operator");
  assert.ok(role.rules?.some(({ resources }) => resources?.includes("greetings/status")));
  await client.get(ValidatingWebhookConfiguration, "greeting-operator");
  const known = lines.length;
  await deploy(operators, client, options);
  const again = lines.slice(known).filter((line) => !line.endsWith("is available"));
  assert.ok(again.length > 5);
  assert.deepEqual(
    again.filter((line) => !line.endsWith(" unchanged")),
    [],
  );
  await undeploy(operators, client, options);
  await assert.rejects(client.get(ServiceAccount, "ops/greeting-operator"), /not found/);
  await assert.rejects(client.get(ClusterRole, "greeting-operator"), /not found/);
  await assert.rejects(client.get(ValidatingWebhookConfiguration, "greeting-operator"), /not found/);
  await client.get(CustomResourceDefinition, CRD);
  await undeploy(operators, client, options);
});

test("on simulated nodes, an image that they have no program for is not reported as running", async () => {
  await using stage = await commandStage({ clock: new AdjustableClock(realClock(), 20) });
  const { options } = heard();
  await assert.rejects(
    deploy(operators, stage.client, { ...options, image: "registry.example.com/greeting:v1" }),
    /nothing runs in its pods: the nodes are simulated, .* no program for the image registry\.example\.com\/greeting:v1[\s\S]*konverge up --operators greeting-operator/,
  );
});

test("a custom operator has no default image", async () => {
  await assert.rejects(
    imageOf(operators, undefined, "deploy"),
    /which image runs greeting-operator\? .* konverge deploy --image REGISTRY\/NAME:TAG/,
  );
  assert.equal(await imageOf(supplied, undefined, "deploy"), DEFAULT_IMAGE);
  assert.equal(await imageOf(operators, "example.com/a:1", "deploy"), "example.com/a:1");
});

test("what was stored can be read when the operator that converted it is gone, and is served in all versions again", async () => {
  await using stage = await commandStage();
  const { client } = stage;
  const { lines, options } = heard();
  await deploy(operators, client, { ...options, noWait: true });
  // As an operator at work does it: the address of its webhook is its own to know.
  await client.patch(
    CustomResourceDefinition,
    CRD,
    { merge: { spec: { conversion: { webhook: { clientConfig: { caBundle: "Cg==" } } } } } as never },
    { fieldManager: "greeting-operator" },
  );
  await client.delete(ValidatingWebhookConfiguration, "greeting-operator");
  await client.create(Greeting.new({ metadata: { name: "a", namespace: "default" }, spec: { to: "you" } }));
  await undeploy(operators, client, { ...options, dryRun: true });
  assert.equal((await client.get(CustomResourceDefinition, CRD)).spec.conversion?.strategy, "Webhook");
  lines.length = 0;
  await undeploy(operators, client, options);
  assert.ok(lines.includes(`customresourcedefinition.apiextensions.k8s.io/${CRD} serves v1 alone`), lines.join("\n"));
  assert.equal((await client.get(Greeting, "default/a")).spec.to, "you");
  const { items } = await client.list(Greeting);
  assert.equal(items.length, 1);
  await assert.rejects(client.list(Greeting.atVersion("v1alpha1")), /not find|not found/);
  await client.patch(Greeting, "default/a", { merge: { spec: { to: "me" } } });
  lines.length = 0;
  await undeploy(operators, client, options);
  const nothing = "there is no deployment.apps/greeting-operator in the namespace ops; removing what is left of it";
  assert.deepEqual(lines, [nothing], "there is nothing left to do");

  await deploy(operators, client, { ...options, noWait: true });
  const { spec } = await client.get(CustomResourceDefinition, CRD);
  assert.deepEqual(
    [spec.conversion?.strategy, ...spec.versions.map(({ name, served }) => `${name} ${served}`)],
    ["Webhook", "v1 true", "v1alpha1 true"],
  );
});

test("a Deployment that does not become available says what its pods wait for", async () => {
  await using stage = await commandStage({ nodes: [] });
  const { client } = stage;
  const { options } = heard();
  await deploy(operators, client, { ...options, noWait: true });
  await until("the scheduler has tried", async () => {
    const { items } = await client.list(Pod, { namespace: "ops" });
    return items.some(({ status }) => status?.conditions?.some(({ type }) => type === "PodScheduled"));
  });
  await assert.rejects(
    deploy(operators, client, { ...options, timeout: 100 }),
    /deployment ops\/greeting-operator is not available after 0.1 s: .*no nodes available[\s\S]*kubectl describe pods/,
  );
});

test("optional parts are deployed on request, or if their kinds are installed", async () => {
  await using stage = await commandStage();
  const { client } = stage;
  const { options } = heard();
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  await client.create(CustomResourceDefinition, {
    metadata: { name: "servicemonitors.monitoring.coreos.com" },
    spec: {
      group: "monitoring.coreos.com",
      scope: "Namespaced",
      names: { plural: "servicemonitors", kind: "ServiceMonitor" },
      versions: [{ name: "v1", served: true, storage: true, schema: schema as never }],
    },
  });
  const deployed = { ...options, classicRole: true, noWait: true };
  await deploy(operators, client, deployed);
  const monitors = await client.mapper.resolve({ group: "monitoring.coreos.com", kind: "ServiceMonitor" });
  await client.get(monitors, "ops/greeting-operator");
  const classic = await client.get(ClusterRole, "greeting-operator-classic");
  const onGreetings = classic.rules?.find(({ resources }) => resources?.includes("greetings"));
  assert.deepEqual(onGreetings?.verbs, ["get", "list", "watch", "create", "update", "patch", "delete"]);
  await undeploy(operators, client, deployed);
  await assert.rejects(client.get(monitors, "ops/greeting-operator"), /not found/);
  await assert.rejects(client.get(ClusterRole, "greeting-operator-classic"), /not found/);
});

test("a definition that another operator has brought stays, until it is said otherwise", async () => {
  await using stage = await commandStage();
  const { client } = stage;
  const { lines, options } = heard();
  const theirs = Greeting.crd({ conversionWebhook: { url: "https://127.0.0.1:1/convert" } });
  await client.create(CustomResourceDefinition, {
    ...theirs,
    metadata: { ...theirs.metadata, annotations: { "controller-gen.kubebuilder.io/version": "v0.16.0" } },
    spec: { ...theirs.spec, conversion: { strategy: "None" } },
  });
  const isTouched = async () => {
    const { metadata } = await client.get(CustomResourceDefinition, CRD);
    return metadata.managedFields?.some(({ manager }) => manager === "konverge-install");
  };
  await install(operators, client, options);
  assert.equal(await isTouched(), false);
  assert.match(lines.join("\n"), new RegExp(`${CRD} unchanged: another operator installed it; --force`));
  await uninstall(operators, client, options);
  assert.equal(await isTouched(), false);
  await install(operators, client, { ...options, force: true });
  assert.equal(await isTouched(), true);
  // From now on it is ours.
  await uninstall(operators, client, options);
  await assert.rejects(client.get(CustomResourceDefinition, CRD), /not found/);
});

test("an image that nodes cannot run is reported before the wait is over", async () => {
  await using stage = await commandStage({ strictImages: true });
  const { lines, options } = heard();
  const image = "registry.example.com/greeting:v1";
  await assert.rejects(
    deploy(operators, stage.client, { ...options, image, timeout: 3_000 }),
    /is not available after/,
  );
  const reported = lines.find((line) => line.includes("cannot run the image"));
  assert.match(
    reported ?? "",
    /^the node \S+ cannot run the image registry\.example\.com\/greeting:v1: (ErrImagePull|ImagePullBackOff)/,
  );
  assert.match(reported ?? "", /konverge image load/);
});
