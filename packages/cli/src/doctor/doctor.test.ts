import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { createAuthority } from "@konverge/apiserver";
import type { Client } from "@konverge/client";
import { realClock, VirtualClock } from "@konverge/core";
import {
  ClusterRoleBinding,
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Namespace,
  Node,
  Secret,
  ValidatingWebhookConfiguration,
} from "@konverge/kinds";
import { operator } from "@konverge/runtime";
import { defineKind, z } from "@konverge/schema";
import { commandStage, until } from "../../test/command-stage.ts";
import { Greeting, greetingOperator } from "../../test/greeting-operator.ts";
import { applyObjects } from "../deploy/apply-objects.ts";
import { operatorObjects } from "../manifests/operator-objects.ts";
import { certificateProblem } from "./certificate-checks.ts";
import { type DoctorOptions, doctor } from "./doctor.ts";
import { examine } from "./examined-objects.ts";
import type { Finding } from "./finding.ts";
import { finalizerFindings } from "./object-checks.ts";

const Thing = defineKind({
  group: "test.example.com",
  kind: "Thing",
  versions: { v1: { spec: z.object({ size: z.int().default(0) }), status: z.object({ at: z.string().optional() }) } },
});

const base: DoctorOptions = { namespace: "default", observe: 0, operators: [] };
const look = (client: Client, more: Partial<DoctorOptions> = {}) => doctor(client, { ...base, ...more });
const about = (findings: readonly Finding[], object: string) =>
  findings.filter((one) => one.object === object).map(({ check, problem, fix }) => `${check}: ${problem}. ${fix}`);

async function stageWithThings() {
  const stage = await commandStage({ nodes: [] });
  await stage.client.create(CustomResourceDefinition, Thing.crd());
  await until("things are served", () => stage.client.list(Thing).then(() => true));
  return stage;
}

const named = (name: string) => ({ name, namespace: "default" });

test("a cluster without problems has no findings", async () => {
  await using stage = await commandStage();
  assert.deepEqual(await look(stage.client, { observe: 200 }), []);
});

test("webhooks without a Service, without endpoints or at a dead address are found", async () => {
  await using stage = await commandStage({ nodes: [] });
  const { client } = stage;
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["secrets"] }];
  const webhook = (name: string, clientConfig: object) => ({
    ...{ name, clientConfig, rules, failurePolicy: "Ignore", sideEffects: "None", admissionReviewVersions: ["v1"] },
  });
  await client.create(ValidatingWebhookConfiguration, {
    metadata: { name: "hooks" },
    webhooks: [
      webhook("a.example.com", { service: { name: "nothing", namespace: "default" } }),
      webhook("b.example.com", { url: "https://127.0.0.1:1/validate" }),
      webhook("c.example.com", { service: { name: "kubernetes", namespace: "default", port: 1 } }),
    ],
  } as never);
  const found = about(await look(client), "ValidatingWebhookConfiguration hooks").join("\n");
  assert.match(found, /a\.example\.com: there is no Service default\/nothing, so it is skipped\. Deploy the operator/);
  assert.match(
    found,
    /b\.example\.com: https:\/\/127\.0\.0\.1:1\/validate cannot be reached from here \(ECONNREFUSED\)/,
  );
  assert.match(found, /c\.example\.com: the Service default\/kubernetes has no port 1/);
});

test("certificates that have expired, or will within a week, are found", async () => {
  await using stage = await commandStage({ nodes: [] });
  const old = new VirtualClock({ start: realClock().now() - 40 * 365 * 86_400_000 });
  const data = { "tls.crt": Buffer.from(createAuthority(old).cert).toString("base64"), "tls.key": "" };
  await stage.client.create(Secret, { metadata: named("old"), type: "kubernetes.io/tls", data } as never);
  const [found = ""] = about(await look(stage.client), "Secret default/old");
  assert.match(found, /^certificates: its certificate expired on \d{4}-\d\d-\d\d\. Restart the operator that uses it/);
  const fresh = createAuthority(realClock()).cert;
  assert.equal(certificateProblem(fresh, realClock()), undefined);
  const end = Date.parse(new X509Certificate(fresh).validTo);
  assert.match(certificateProblem(fresh, new VirtualClock({ start: end - 86_400_000 })) ?? "", /^expires on/);
});

test("a finalizer that holds a deletion is found, with who has set it", async () => {
  await using stage = await stageWithThings();
  const { client } = stage;
  const metadata = { ...named("stuck"), finalizers: ["example.com/cleanup"] };
  await client.create(Thing.new({ metadata, spec: {} }), { fieldManager: "thing-operator" });
  await client.delete(Thing, "default/stuck");
  assert.deepEqual(about(await look(client), "Thing default/stuck"), []);
  const later = new VirtualClock({ start: realClock().now() + 120_000 });
  const [found] = finalizerFindings(await examine(client, "thing/stuck", "default"), later);
  assert.match(
    found!.problem,
    /waiting to be deleted for 1[12]\d s, for the finalizer example\.com\/cleanup, which thing-operator has set/,
  );
  assert.match(found!.fix, /^Start thing-operator, and read its log; .*kubectl edit thing stuck --namespace default$/);
});

test("versions that do not fit together are found: kubelets, stored versions, and CRDs of the project", async () => {
  await using stage = await stageWithThings();
  const { client } = stage;
  await client.create(Node, {
    metadata: { name: "old" },
    status: { nodeInfo: { kubeletVersion: "v1.29.3" } },
  } as never);
  await client.patch(Node, "old", { merge: { status: { nodeInfo: { kubeletVersion: "v1.29.3" } } } as never }, {
    subresource: "status",
  } as never);
  const Changed = defineKind({
    ...{ group: "test.example.com", kind: "Thing" },
    versions: {
      v1: {
        spec: z.object({ size: z.int().max(9).default(0), color: z.string().optional() }),
        status: z.object({ at: z.string().optional() }),
      },
    },
  });
  const things = operator({
    name: "thing-operator",
    description: "",
    kinds: [Changed, Greeting],
    create: () => ({ controllers: [] }),
  });
  const findings = await look(client, { operators: [things] });
  const [definition = ""] = about(findings, "CustomResourceDefinition things.test.example.com").filter((text) =>
    /project/.test(text),
  );
  assert.match(
    definition,
    /it is not the one of this project: v1 spec\.size: maximum is not there, was 9; v1 spec\.color: missing\. .*konverge install/,
  );
  assert.match(
    about(findings, "CustomResourceDefinition greetings.test.example.com").join(),
    /it is not installed, and thing-operator needs it/,
  );
  assert.match(about(findings, "Node old").join(), /its kubelet is v1\.29\.3, more than 3 minor versions behind/);
});

test("an object that is not ready is found with the children that it waits for, and so is one that is paused", async () => {
  await using stage = await stageWithThings();
  const { client } = stage;
  const thing = await client.create(
    Thing,
    Thing.new({ metadata: { ...named("big"), annotations: { "konverge.dev/paused": "true" } }, spec: {} }),
  );
  const owner = {
    apiVersion: "test.example.com/v1",
    kind: "Thing",
    name: "big",
    uid: thing.metadata.uid!,
    controller: true,
  };
  const labels = { app: "big" };
  await client.create(Deployment, {
    metadata: { ...named("big"), ownerReferences: [owner] },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } },
    },
  } as never);
  const findings = await look(client, { object: "thing/big" });
  const text = about(findings, "Thing default/big").join("\n");
  assert.match(
    text,
    /readiness: it is not ready: Thing generation is 1, but latest observed generation is -1\. Check that its operator runs/,
  );
  assert.match(
    text,
    /paused: it is paused by the annotation .*kubectl annotate thing big --namespace default konverge\.dev\/paused-/,
  );
  assert.match(about(findings, "Deployment default/big").join(), /readiness: it is not ready/);
  await assert.rejects(look(client, { object: "thing/none" }), /there is no Thing default\/none/);
  await assert.rejects(look(client, { object: "none/a" }), /the cluster has no kind none/);
  await assert.rejects(look(client, { object: "thing" }), /is not KIND\/NAME/);
});

test("permissions that a deployed operator lacks are found", async () => {
  await using stage = await commandStage();
  const { client } = stage;
  const { serviceAccount, roles, deployment } = operatorObjects(greetingOperator, {
    namespace: "greetings",
    image: "i",
  });
  await client.create(Namespace, { metadata: { name: "greetings" } });
  await applyObjects(client, [serviceAccount, ...roles, deployment] as never, { tell: () => {} });
  const before = await look(client, { operators: [greetingOperator] });
  assert.deepEqual(
    before.filter(({ check }) => check === "permissions"),
    [],
  );
  for (const { metadata } of (await client.list(ClusterRoleBinding)).items) {
    if (metadata.name.includes("greeting")) await client.delete(ClusterRoleBinding, metadata.name);
  }
  const [found] = (await look(client, { operators: [greetingOperator] })).filter(
    ({ check }) => check === "permissions",
  );
  assert.equal(found?.object, "ServiceAccount greetings/greeting-operator");
  assert.match(found?.problem ?? "", /greeting-operator needs rules that it does not have: .*greetings/);
  assert.match(found?.fix ?? "", /konverge deploy --namespace greetings/);
});

test("a child that is written again and again is found, whatever its kind is", async () => {
  await using stage = await stageWithThings();
  const { client } = stage;
  const { metadata } = await client.create(Thing.new({ metadata: named("owner"), spec: {} }));
  const ownerReferences = [{ apiVersion: "test.example.com/v1", kind: "Thing", name: "owner", uid: metadata.uid! }];
  await client.create(ConfigMap, { metadata: { ...named("child"), ownerReferences }, data: {} });
  await client.create(ConfigMap, { metadata: named("elsewhere"), data: {} });
  const looking = look(client, { observe: 2_000, object: "thing/owner" });
  let isDone = false;
  const ended = () => {
    isDone = true;
  };
  looking.then(ended, ended);
  for (let i = 1; !isDone; i++) {
    await setImmediate();
    for (const name of ["child", "elsewhere"]) {
      const merge = { data: { at: String(i) } };
      await client.patch(ConfigMap, `default/${name}`, { merge }, { fieldManager: "hot" });
    }
  }
  const loops = (await looking).filter(({ check }) => check === "hot-loops");
  assert.deepEqual(
    loops.map(({ object }) => object),
    ["ConfigMap default/child"],
  );
  assert.match(loops[0]?.problem ?? "", /^it was written \d+ times in 2 s by hot; what changed was \/data\/at$/);
});

test("two managers that change a field in turn, and one that writes without end, are found", async () => {
  await using stage = await stageWithThings();
  const { client } = stage;
  await client.create(Thing.new({ metadata: named("fought"), spec: {} }));
  await client.create(Thing.new({ metadata: named("hot"), spec: {} }));
  await client.create(ConfigMap, { metadata: named("elsewhere") });
  const looking = look(client, { observe: 3_000 });
  const isDone = { yes: false };
  const ended = () => {
    isDone.yes = true;
  };
  looking.then(ended, ended);
  for (let i = 1; !isDone.yes; i++) {
    // The server is in this process: without a turn of the event loop, no time would pass.
    await setImmediate();
    const object = { apiVersion: "test.example.com/v1", kind: "Thing", metadata: named("fought"), spec: { size: i } };
    await client.apply(Thing, object as never, { fieldManager: i % 2 ? "left" : "right", force: true });
    await client.patchStatus(Thing, "default/hot", { merge: { status: { at: String(i) } } }, { fieldManager: "hot" });
  }
  const findings = await looking;
  const [fight] = findings.filter(({ check }) => check === "conflicts");
  assert.equal(fight?.object, "Thing default/fought");
  assert.match(
    fight?.problem ?? "",
    /^\/spec\/size was changed \d+ times in 3 s, by (left and right|right and left) in turn$/,
  );
  const [loop] = findings.filter(({ check }) => check === "hot-loops");
  assert.equal(loop?.object, "Thing default/hot");
  assert.match(loop?.problem ?? "", /^it was written \d+ times in 3 s by hot; what changed was \/status\/at$/);
});
