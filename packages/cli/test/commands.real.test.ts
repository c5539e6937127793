import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Client, connect } from "@konverge/client";
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Lease,
  Role,
  ServiceAccount,
  ValidatingAdmissionPolicyBinding,
} from "@konverge/kinds";
import { operators } from "@konverge/operators";
import { findControlPlane, type RealCluster, startRealCluster } from "@konverge/real";
import { deploy, undeploy } from "../src/deploy/deploy.ts";
import { install } from "../src/deploy/install.ts";
import { uninstall } from "../src/deploy/uninstall.ts";
import { DEFAULT_IMAGE } from "../src/manifests/defaults.ts";
import { manifestFiles } from "../src/manifests/files.ts";
import { writeManifests } from "../src/manifests/write-manifests.ts";
import { runCommand } from "../src/run/run-command.ts";
import { until } from "./command-stage.ts";
import { Greeting, greetingOperator } from "./greeting-operator.ts";

const plane = findControlPlane();
const options = { skip: plane.available ? false : plane.why };
const MODULE = fileURLToPath(new URL("./greeting-operator.ts", import.meta.url));
const CRD = "greetings.test.example.com";

let cluster: RealCluster;
let client: Client;
let folder: string;
before(async () => {
  if (!plane.available) return;
  cluster = await startRealCluster({ controllers: true, scheduler: true, kwok: { nodes: 2 } });
  client = await connect({ kubeconfig: cluster.kubeconfig });
  folder = mkdtempSync(join(tmpdir(), "konverge-real-"));
});
after(async () => {
  await client?.close();
  await cluster?.stop();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

const place = { namespace: "ops", image: DEFAULT_IMAGE, tell: () => {} };

test("a real API server takes every manifest of every operator as it is", options, async () => {
  const files = manifestFiles([...operators, greetingOperator], { namespace: "default", image: DEFAULT_IMAGE });
  const output = join(folder, "config");
  writeManifests(output, files);
  // Strictly: an unknown field in what is written would be an error.
  const { code, stderr } = await cluster.kubectl(["apply", "-k", output, "--dry-run=server", "--validate=strict"]);
  assert.equal(code, 0, stderr);
});

test("operators are installed, deployed, found unchanged, undeployed and uninstalled", options, async () => {
  const lines: string[] = [];
  const told = { ...place, tell: (text: string) => lines.push(text) };
  await deploy([greetingOperator], client, { ...told, dryRun: true });
  await deploy([greetingOperator], client, told);
  assert.equal(lines.at(-1), "deployment.apps/greeting-operator is available");
  assert.equal((await client.get(Deployment, "ops/greeting-operator")).status?.availableReplicas, 1);
  const role = await client.get(Role, "ops/greeting-operator");
  assert.ok(role.rules?.some(({ resources }) => resources?.includes("greetings/status")));
  const known = lines.length;
  await deploy([greetingOperator], client, told);
  const changed = lines.slice(known).filter((line) => !/ unchanged$| is available$/.test(line));
  assert.deepEqual(changed, []);
  // The simulated pods of this control plane do not respond, so nothing can pass the webhook.
  await assert.rejects(
    client.create(Greeting.new({ metadata: { name: "a", namespace: "default" }, spec: { to: "you" } }), {
      timeout: 20_000,
    }),
    /failed calling webhook "validate\.greetings\.test\.example\.com"/,
  );
  await undeploy([greetingOperator], client, told);
  await assert.rejects(client.get(ServiceAccount, "ops/greeting-operator"), /not found/);
  await client.get(CustomResourceDefinition, CRD);
  await until("writes pass again", async () => {
    await client.create(Greeting.new({ metadata: { name: "b", namespace: "default" }, spec: { to: "you" } }));
    return true;
  });
  // Nothing converts any more: stored objects can still be read.
  assert.equal((await client.get(Greeting, "default/b")).spec.to, "you");
  await until("only the stored version is served", async () => {
    return client.list(Greeting.atVersion("v1alpha1")).then(
      () => false,
      () => true,
    );
  });
  assert.equal((await client.list(Greeting)).items.length, 1);
  await assert.rejects(uninstall([greetingOperator], client, told), /nothing was removed/);
  await uninstall([greetingOperator], client, { ...told, force: true });
  await assert.rejects(client.get(CustomResourceDefinition, CRD), /not found/);
});

test("a deployment replaces the addresses that a development run has registered", options, async () => {
  await deploy([greetingOperator], client, { ...place, noWait: true });
  const clientConfig = { url: "https://127.0.0.1:1/convert", service: null, caBundle: null };
  const webhook = { clientConfig, conversionReviewVersions: ["v1"] };
  await client.patch(CustomResourceDefinition, CRD, {
    merge: { spec: { conversion: { strategy: "Webhook", webhook } } } as never,
  });
  await deploy([greetingOperator], client, { ...place, noWait: true });
  const { spec } = await client.get(CustomResourceDefinition, CRD);
  const { url, service } = spec.conversion?.webhook?.clientConfig ?? {};
  assert.deepEqual([url, service?.name], [undefined, "greeting-operator"]);
  await undeploy([greetingOperator], client, place);
  await uninstall([greetingOperator], client, { ...place, force: true });
});

/** What a process needs beyond the operator's role to be reached outside the cluster: the role and the guard lock the webhooks' address. */
async function letRegisterElsewhere(): Promise<void> {
  await client.delete(ValidatingAdmissionPolicyBinding, "greeting-operator-guard");
  const metadata = { name: "registers-elsewhere" };
  const resources = ["validatingwebhookconfigurations"];
  const rule = { apiGroups: ["admissionregistration.k8s.io"], resources, verbs: ["create"] };
  await client.create(ClusterRole, { metadata, rules: [rule] });
  await client.create(ClusterRoleBinding, {
    metadata,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: metadata.name },
    subjects: [{ kind: "ServiceAccount", name: "greeting-operator", namespace: "ops" }],
  });
}

test("an operator runs under exactly the role that was written for it", options, async () => {
  await install([greetingOperator], client, place);
  // The Deployment's pods are simulated here: the process below acts in their stead, and is reached at another address.
  await deploy([greetingOperator], client, { ...place, noWait: true });
  await client.delete(Deployment, "ops/greeting-operator");
  await letRegisterElsewhere();
  const { token } = await client.requestToken("ops/greeting-operator", { expirationSeconds: 3600 });
  const kubeconfig = join(folder, "operator");
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "real", cluster: { server: cluster.url, "certificate-authority-data": cluster.caData } }],
      users: [{ name: "operator", user: { token } }],
      contexts: [{ name: "real", context: { cluster: "real", user: "operator", namespace: "ops" } }],
      "current-context": "real",
    }),
  );
  const stop = new AbortController();
  const ready = Promise.withResolvers<void>();
  const world = { env: {}, stop: stop.signal, write: () => {}, ready: () => ready.resolve() };
  const args = [MODULE, "--kubeconfig", kubeconfig, "--leader-elect", "--webhook-host=127.0.0.1", "--webhook-port=0"];
  const done = runCommand(() => world).parseAsync(
    [...args, "--metrics-bind-address=0", "--health-probe-bind-address=0"],
    { from: "user" },
  );
  done.catch(ready.reject);
  await ready.promise;
  const nobody = Greeting.new({ metadata: { name: "n", namespace: "default" }, spec: { to: "nobody" } });
  await until("the webhook is asked", async () => {
    const refusal = await client.create(Greeting, nobody).catch((error: Error) => error.message);
    return /must be somebody/.test(String(refusal));
  });
  await client.create(
    Greeting,
    Greeting.new({ metadata: { name: "real", namespace: "default" }, spec: { to: "you" } }),
  );
  await until("it is greeted", async () => {
    return (await client.get(ConfigMap, "default/real")).data?.["said"] === "Hello, you";
  });
  assert.ok((await client.get(Lease, "ops/greeting-operator")).spec?.holderIdentity);
  stop.abort();
  await done;
  assert.equal((await client.get(Lease, "ops/greeting-operator")).spec?.holderIdentity || "", "");
  await undeploy([greetingOperator], client, place);
  await uninstall([greetingOperator], client, { ...place, force: true });
});
