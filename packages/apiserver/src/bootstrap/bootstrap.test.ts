import assert from "node:assert/strict";
import { test } from "node:test";
import { keyOf, readText, stringifyJson, VirtualClock } from "@konverge/core";
import { objectOf } from "../resources/stored-object.ts";
import { ApiServer } from "../server.ts";
import { defaultsOf } from "./bootstrap.ts";

const FLOW = "/apis/flowcontrol.apiserver.k8s.io/v1";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";

function setup(options: ConstructorParameters<typeof ApiServer>[0] = {}) {
  const clock = new VirtualClock();
  const server = new ApiServer({ clock, ...options });
  const send = async (method: string, path: string, body?: object) => {
    const headers = { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await server.transport({ method, path, headers, ...sent });
    return { status: answer.status, body: JSON.parse(await readText(answer.body)) };
  };
  const statusOf = async (path: string) => (await send("GET", path)).status;
  return { clock, server, send, statusOf };
}

test("flow schemas, priority levels and the node lease namespace come back within a minute, the default ServiceCIDR within ten seconds", async () => {
  const { clock, send, statusOf } = setup();
  const flowControl = [`${FLOW}/flowschemas/catch-all`, `${FLOW}/prioritylevelconfigurations/workload-low`];
  const range = "/apis/networking.k8s.io/v1/servicecidrs/kubernetes";
  const namespace = "/api/v1/namespaces/kube-node-lease";
  for (const path of [...flowControl, range, namespace]) await send("DELETE", path);
  await send("PUT", `${namespace}/finalize`, { metadata: { name: "kube-node-lease" }, spec: {} });
  for (const path of [...flowControl, range, namespace]) assert.equal(await statusOf(path), 404, path);
  await clock.advance(10_000);
  assert.equal(await statusOf(range), 200);
  assert.equal(await statusOf(namespace), 404);
  await clock.advance(50_000);
  for (const path of [...flowControl, namespace]) assert.equal(await statusOf(path), 200, path);
});

test("a changed default flow schema is reset, unless its annotation says otherwise; mandatory ones always", async () => {
  const { clock, send } = setup();
  const change = (name: string, autoUpdate: string) =>
    send("PATCH", `${FLOW}/flowschemas/${name}`, {
      metadata: { annotations: { "apf.kubernetes.io/autoupdate-spec": autoUpdate } },
      spec: { distinguisherMethod: { type: "ByNamespace" } },
    });
  const methodOf = async (name: string) =>
    (await send("GET", `${FLOW}/flowschemas/${name}`)).body.spec.distinguisherMethod?.type;
  await change("catch-all", "false");
  await change("probes", "true");
  await change("system-nodes", "false");
  await clock.advance(60_000);
  assert.equal(await methodOf("catch-all"), "ByUser");
  assert.equal(await methodOf("probes"), undefined);
  assert.equal(await methodOf("system-nodes"), "ByNamespace");
});

test("default roles, priority classes and API services come back with the next start alone", async () => {
  const before = setup();
  const paths = [
    `${RBAC}/clusterroles/view`,
    `${RBAC}/clusterrolebindings/cluster-admin`,
    "/apis/apiregistration.k8s.io/v1/apiservices/v1.apps",
  ];
  for (const path of paths) assert.equal((await before.send("DELETE", path)).status, 200);
  await before.send("DELETE", "/apis/scheduling.k8s.io/v1/priorityclasses");
  await before.clock.advance(120_000);
  for (const path of paths) assert.equal(await before.statusOf(path), 404, path);
  const after = setup({ state: before.server.snapshot() });
  for (const path of [...paths, "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical"]) {
    assert.equal(await after.statusOf(path), 200, path);
  }
});

test("a start adds what default roles and bindings lack, except for those with auto-update disabled", async () => {
  const before = setup();
  const extra = { apiGroups: ["example.com"], resources: ["widgets"], verbs: ["get"] };
  await before.send("PATCH", `${RBAC}/clusterroles/system:discovery`, { rules: [extra] });
  await before.send("PATCH", `${RBAC}/clusterroles/system:basic-user`, {
    metadata: { annotations: { "rbac.authorization.kubernetes.io/autoupdate": "false" } },
    rules: [extra],
  });
  await before.send("PATCH", `${RBAC}/clusterrolebindings/system:discovery`, { subjects: null });
  const { send } = setup({ state: before.server.snapshot() });
  const discovery = (await send("GET", `${RBAC}/clusterroles/system:discovery`)).body;
  assert.deepEqual(discovery.rules[0], extra);
  assert.deepEqual(discovery.rules[1], { nonResourceURLs: ["/api"], verbs: ["get"] });
  assert.deepEqual((await send("GET", `${RBAC}/clusterroles/system:basic-user`)).body.rules, [extra]);
  const { subjects } = (await send("GET", `${RBAC}/clusterrolebindings/system:discovery`)).body;
  assert.deepEqual(subjects, [{ kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: "system:authenticated" }]);
});

test("the system's priority classes cannot be deleted by name", async () => {
  const { send } = setup();
  const { status, body } = await send("DELETE", "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical");
  assert.equal(status, 403);
  assert.match(body.message, /is forbidden: this is a system priority class and cannot be deleted$/);
});

test("the objects that every cluster begins with are written in the form in which they are stored", () => {
  const { server } = setup();
  for (const definition of server.registry.all()) {
    for (const fact of defaultsOf(`${definition.group}/${definition.plural}`)) {
      const entry = server.store.collection(definition.storage).get(keyOf(fact))!;
      assert.equal(entry.text, stringifyJson(definition.storageCodec.canonical(objectOf(entry))));
    }
  }
});
