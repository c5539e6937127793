import assert from "node:assert/strict";
import { test } from "node:test";
import { readText, VirtualClock } from "@konverge/core";
import { ApiServer, type ApiServerOptions } from "../server.ts";

function stage(options: ApiServerOptions = {}) {
  const server = new ApiServer({ clock: new VirtualClock(), ...options });
  const send = async (method: string, path: string, body?: object) => {
    const headers = { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const { status, body: text } = await server.transport({ method, path, headers, ...sent });
    return { status, body: JSON.parse(await readText(text)) };
  };
  return { server, send };
}

const PODS = "/api/v1/namespaces/default/pods";
const pod = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: "c", image: "nginx" }], ...spec },
});

test("a new server has what every cluster begins with", async () => {
  const { send } = stage();
  const { body } = await send("GET", "/api/v1/namespaces");
  const names = body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
  assert.deepEqual(names, ["default", "kube-node-lease", "kube-public", "kube-system"]);
  assert.equal((await send("GET", "/api/v1/namespaces/default/services/kubernetes")).body.spec.clusterIP, "10.96.0.1");
});

test("pods run as a service account of their namespace where that plugin is on", async () => {
  const off = stage();
  assert.equal((await off.send("POST", PODS, pod("a"))).body.spec.serviceAccountName, undefined);
  const clock = new VirtualClock();
  const on = stage({ clock, admission: { enable: ["ServiceAccount"] } });
  // The account may still be on its way, but not for long.
  const early = on.send("POST", PODS, pod("a"));
  await clock.advance(2_000);
  const refused = await early;
  assert.equal(refused.status, 403);
  assert.equal(
    refused.body.message,
    'pods "a" is forbidden: error looking up service account default/default: serviceaccount "default" not found',
  );
  const waiting = on.send("POST", PODS, pod("a"));
  await on.send("POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } });
  const { status, body } = await waiting;
  assert.equal(status, 201);
  assert.equal(body.spec.serviceAccountName, "default");
  assert.match(body.spec.volumes[0].name, /^kube-api-access-/);
  assert.equal(body.spec.containers[0].volumeMounts[0].mountPath, "/var/run/secrets/kubernetes.io/serviceaccount");
});

test("a plugin that is turned off has no say", async () => {
  const { send } = stage({ admission: { disable: ["NamespaceLifecycle"] } });
  const created = await send("POST", "/api/v1/namespaces/none/configmaps", { metadata: { name: "a" } });
  assert.equal(created.status, 201);
});

test("addresses of services are given once, kept on updates and released with them", async () => {
  const { send } = stage();
  const services = "/api/v1/namespaces/default/services";
  const { body: first } = await send("POST", services, { metadata: { name: "a" }, spec: { ports: [{ port: 80 }] } });
  const address = first.spec.clusterIP;
  const again = { metadata: { name: "b" }, spec: { clusterIP: address, ports: [{ port: 80 }] } };
  assert.equal((await send("POST", services, again)).status, 422);
  const replaced = await send("PUT", `${services}/a`, { metadata: { name: "a" }, spec: { ports: [{ port: 81 }] } });
  assert.equal(replaced.body.spec.clusterIP, address);
  await send("DELETE", `${services}/a`);
  assert.equal((await send("POST", services, again)).status, 201);
});

test("a quota is charged by what it lets in, and not by what it refuses or only tries", async () => {
  const { send } = stage();
  const quotas = "/api/v1/namespaces/default/resourcequotas";
  await send("POST", quotas, { metadata: { name: "q" }, spec: { hard: { configmaps: "1" } } });
  await send("PATCH", `${quotas}/q/status`, { status: { hard: { configmaps: "1" }, used: { configmaps: "0" } } });
  const maps = "/api/v1/namespaces/default/configmaps";
  assert.equal((await send("POST", `${maps}?dryRun=All`, { metadata: { name: "a" } })).status, 201);
  assert.equal((await send("POST", maps, { metadata: { name: "a" } })).status, 201);
  const refused = await send("POST", maps, { metadata: { name: "b" } });
  assert.equal(
    refused.body.message,
    'configmaps "b" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: configmaps=1',
  );
  assert.deepEqual((await send("GET", `${quotas}/q`)).body.status.used, { configmaps: "1" });
});

test("requests that only a node can answer need a kubelet API", async () => {
  const { send } = stage();
  await send("POST", PODS, pod("a", { nodeName: "n" }));
  const { status, body } = await send("GET", `${PODS}/a/log`);
  assert.equal(status, 503);
  assert.match(body.message, /has been given no kubelet/);
  const answered = stage({
    kubelet: ({ action, container }) => ({ status: 200, headers: {}, body: JSON.stringify({ action, container }) }),
  });
  await answered.send("POST", PODS, pod("a", { nodeName: "n" }));
  assert.deepEqual((await answered.send("GET", `${PODS}/a/log`)).body, { action: "log", container: "c" });
});

test("kernel settings of a pod have names that there can be", async () => {
  const { send } = stage();
  const sysctls = ["foo-", "kernel.shmmax", "bar..", "kernel.shmmax"].map((name) => ({ name, value: "1" }));
  const { status, body } = await send("POST", PODS, pod("a", { securityContext: { sysctls } }));
  assert.equal(status, 422);
  const causes = body.details.causes.map(
    ({ field, reason }: { field: string; reason: string }) => `${field} ${reason}`,
  );
  assert.deepEqual(causes, [
    "spec.securityContext.sysctls[0].name FieldValueInvalid",
    "spec.securityContext.sysctls[2].name FieldValueInvalid",
    "spec.securityContext.sysctls[3].name FieldValueDuplicate",
  ]);
  assert.match(body.message, /must have at most 253 characters and match regex \^\(\[a-z0-9\]/);
});
