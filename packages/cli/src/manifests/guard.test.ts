import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Client } from "@konverge/client";
import { type Cluster, startCluster } from "@konverge/cluster";
import type { KubeObject } from "@konverge/core";
import {
  ConfigMap,
  CustomResourceDefinition,
  Namespace,
  Pod,
  Role,
  RoleBinding,
  Secret,
  ValidatingWebhookConfiguration,
} from "@konverge/kinds";
import { operators } from "@konverge/operators";
import type { Operator } from "@konverge/runtime";
import { greetingOperator } from "../../test/greeting-operator.ts";
import { DEFAULT_IMAGE } from "./defaults.ts";
import { operatorObjects } from "./operator-objects.ts";

const namespace = "ops";
const operatorOf = (name: string) => operators.find((one) => one.name === name)!;
const databaseOperator = operatorOf("database-operator");
const rayOperator = operatorOf("ray-operator");
let cluster: Cluster;

before(async () => {
  cluster = await startCluster({
    nodes: [{ name: "node", capacity: { cpu: "4", memory: "8Gi", pods: "10" } }],
    images: ["db:1"],
  });
  for (const name of [namespace, "team", "kube-system"])
    await cluster.client.create(Namespace, { metadata: { name } }).catch(() => undefined);
  for (const operator of [databaseOperator, rayOperator, greetingOperator]) await install(operator);
});
after(() => cluster?.stop());

async function install(operator: Operator): Promise<void> {
  const objects = operatorObjects(operator, { namespace, image: DEFAULT_IMAGE });
  const all = [...objects.crds, objects.serviceAccount, ...objects.roles, ...objects.guard, ...objects.webhooks];
  for (const object of all as unknown as KubeObject[]) {
    const kind = await cluster.client.mapper.resolve(object as never);
    await cluster.client.apply(kind, object as never, { fieldManager: "installer" });
  }
}

/** Acts with the credentials of an operator, as an attacker would. */
const attacker = ({ name }: Operator): Client =>
  cluster.client.as({ user: `system:serviceaccount:${namespace}:${name}`, groups: ["system:authenticated"] });

const guard = (name: string, limit: string) => new RegExp(`${name}-guard' .*denied request: ${name} ${limit}`);

test("no operator writes in the namespaces of the control plane", async () => {
  const client = attacker(databaseOperator);
  const settings = (place: string) => ({ metadata: { name: "settings", namespace: place }, data: {} });
  await assert.rejects(
    client.create(ConfigMap, settings("kube-system")),
    guard("database-operator", "writes nothing in the namespaces of the control plane"),
  );
  await client.create(ConfigMap, settings("team"));
});

test("an operator that writes Secrets gets no token of a service account with one", async () => {
  const client = attacker(databaseOperator);
  const metadata = {
    name: "token",
    namespace: "team",
    annotations: { "kubernetes.io/service-account.name": "default" },
  };
  await assert.rejects(
    client.create(Secret, { metadata, type: "kubernetes.io/service-account-token" }),
    guard("database-operator", "requests no tokens"),
  );
  await client.create(Secret, { metadata: { name: "password", namespace: "team" }, type: "Opaque" });
});

test("the database operator runs nothing in pods but its question to servers, and changes no images", async () => {
  const { client: admin } = cluster;
  await admin.create(Pod, {
    metadata: { name: "db-0", namespace: "team" },
    spec: {
      containers: [
        { name: "database", image: "db:1" },
        { name: "other", image: "db:1" },
      ],
    },
  });
  for (let tries = 0; (await admin.get(Pod, "team/db-0")).status?.phase !== "Running" && tries < 500; tries++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  const client = attacker(databaseOperator);
  const runs = (command: readonly string[], container = "database") =>
    client.exec("team/db-0", command, { container }).then((process) => process.output());
  const refused = guard("database-operator", "runs nothing in pods but sh /scripts/status\\.sh");
  await assert.rejects(runs(["sh", "-c", "id"]), refused);
  await assert.rejects(runs(["sh", "/scripts/status.sh"], "other"), refused);
  await runs(["sh", "/scripts/status.sh"]).catch((error: Error) => assert.doesNotMatch(error.message, /guard/));
  await client.patch(Pod, "team/db-0", { merge: { metadata: { labels: { role: "primary" } } } });
  await assert.rejects(
    client.patch(Pod, "team/db-0", { strategic: { spec: { containers: [{ name: "database", image: "evil:1" }] } } }),
    guard("database-operator", "changes only the metadata of pods"),
  );
});

test("an operator sets the CA of its webhooks, and nothing else of their registration", async () => {
  const client = attacker(greetingOperator);
  const { webhooks = [] } = await client.get(ValidatingWebhookConfiguration, greetingOperator.name);
  const withCa = webhooks.map((one) => ({ ...one, clientConfig: { ...one.clientConfig, caBundle: "Cg==" } }));
  const patched = (hooks: readonly object[]) =>
    client.patch(ValidatingWebhookConfiguration, greetingOperator.name, { merge: { webhooks: hooks } as never });
  await patched(withCa);
  const everything = [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"] }];
  const refused = guard("greeting-operator", "changes only the CA of its webhooks");
  await assert.rejects(patched(withCa.map((one) => ({ ...one, rules: everything }))), refused);
  await assert.rejects(patched([...withCa, { ...withCa[0]!, name: "more.example.com" }]), refused);
  const elsewhere = { url: "https://203.0.113.1/" };
  await assert.rejects(patched(withCa.map((one) => ({ ...one, clientConfig: elsewhere }))), refused);
});

test("an operator that converts its kinds changes nothing else of them", async () => {
  const client = attacker(greetingOperator);
  const name = "greetings.test.example.com";
  const convertedBy = (service: object) =>
    client.patch(CustomResourceDefinition, name, {
      merge: { spec: { conversion: { strategy: "Webhook", webhook: { clientConfig: { service } } } } } as never,
    });
  await convertedBy({ name: greetingOperator.name, namespace });
  const refused = guard("greeting-operator", "changes only where its kinds are converted");
  await assert.rejects(convertedBy({ name: "evil", namespace }), refused);
  const { spec } = await cluster.client.get(CustomResourceDefinition, name);
  const versions = spec.versions.map((one) => ({ ...one, subresources: {} }));
  await assert.rejects(
    client.patch(CustomResourceDefinition, name, { merge: { spec: { versions } } as never }),
    refused,
  );
});

test("the Ray operator grants no more than an autoscaler needs, also of what it may do itself", async () => {
  const client = attacker(rayOperator);
  const metadata = { name: "ray", namespace: "team" };
  const rule = (verbs: string[]) => ({ apiGroups: [""], resources: ["pods"], verbs });
  await client.create(Role, { metadata, rules: [rule(["get", "list", "watch"])] });
  await assert.rejects(
    client.create(Role, { metadata: { ...metadata, name: "more" }, rules: [rule(["create", "delete"])] }),
    guard("ray-operator", "grants only what an autoscaler needs"),
  );
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "ray" };
  const bound = (kind: string) => ({
    metadata,
    roleRef,
    subjects: [{ kind, name: "ray", ...(kind === "User" ? {} : { namespace: "team" }) }],
  });
  await client.create(RoleBinding, bound("ServiceAccount"));
  await assert.rejects(
    client.create(RoleBinding, { ...bound("User"), metadata: { ...metadata, name: "other" } }),
    guard("ray-operator", "binds only such roles"),
  );
});
