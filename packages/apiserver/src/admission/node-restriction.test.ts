import assert from "node:assert/strict";
import { test } from "node:test";
import { readText, VirtualClock } from "@konverge/core";
import { ApiServer } from "../server.ts";

const PODS = "/api/v1/namespaces/default/pods";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

/** A server, as its administrator and as the kubelet of node `one`. */
async function stage() {
  const server = new ApiServer({ clock: new VirtualClock() });
  const sender = (transport: typeof server.transport) => async (method: string, path: string, body?: object) => {
    const headers = { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
    const response = await transport({ method, path, headers, ...(body && { body: JSON.stringify(body) }) });
    return { status: response.status, body: JSON.parse(await readText(response.body)) };
  };
  const admin = sender(server.transport);
  const groups = ["system:nodes", "system:authenticated"];
  const node = sender(server.as({ name: "system:node:one", groups }));
  const refused = async (method: string, path: string, body: object | undefined, message: string) => {
    const answer = await node(method, path, body);
    assert.equal(answer.body.message, message, `${method} ${path}`);
    assert.equal(answer.status, 403);
  };
  const on = (nodeName: string, name: string, more: object = {}) => ({
    metadata: { name },
    spec: { nodeName, containers: [{ name: "c", image: "nginx" }], ...more },
  });
  await admin("POST", PODS, on("one", "mine", { serviceAccountName: "robot" }));
  await admin("POST", PODS, on("two", "theirs"));
  return { admin, node, refused, on };
}

test("a kubelet registers and updates its own node, without labels, taints or owners that would draw pods to it", async () => {
  const { admin, node, refused } = await stage();
  const labels = { "kubernetes.io/hostname": "one", "example.com/rack": "4", "node.kubernetes.io/x": "y" };
  const bad = { ...labels, "node-restriction.kubernetes.io/a": "b", "node-role.kubernetes.io/control-plane": "" };
  await refused(
    "POST",
    "/api/v1/nodes",
    { metadata: { name: "one", labels: bad } },
    'nodes "one" is forbidden: node "one" is not allowed to set the following labels: node-restriction.kubernetes.io/a, node-role.kubernetes.io/control-plane',
  );
  await refused(
    "POST",
    "/api/v1/nodes",
    { metadata: { name: "two" } },
    'nodes "two" is forbidden: node "one" is not allowed to modify node "two"',
  );
  const taints = [{ key: "a", effect: "NoSchedule" }];
  assert.equal(
    (await node("POST", "/api/v1/nodes", { metadata: { name: "one", labels }, spec: { taints } })).status,
    201,
  );
  const path = "/api/v1/nodes/one";
  await refused(
    "PATCH",
    path,
    { spec: { taints: [] } },
    'nodes "one" is forbidden: node "one" is not allowed to modify taints',
  );
  const ownerReferences = [{ apiVersion: "v1", kind: "Namespace", name: "default", uid: "u" }];
  await refused(
    "PATCH",
    path,
    { metadata: { ownerReferences } },
    'nodes "one" is forbidden: node "one" is not allowed to modify ownerReferences',
  );
  await refused(
    "PATCH",
    path,
    { metadata: { labels: { "pod-security.kubernetes.io/enforce": "x" } } },
    'nodes "one" is forbidden: is not allowed to modify labels: pod-security.kubernetes.io/enforce',
  );
  assert.equal((await node("PATCH", path, { metadata: { labels: { "kubernetes.io/os": "linux" } } })).status, 200);
  const ready = { conditions: [{ type: "Ready", status: "True" }] };
  assert.equal((await node("PATCH", `${path}/status`, { status: ready })).status, 200);
  await admin("POST", "/api/v1/nodes", { metadata: { name: "two" } });
  await refused(
    "PATCH",
    "/api/v1/nodes/two/status",
    { status: ready },
    'nodes "two" is forbidden: node "one" is not allowed to modify node "two"',
  );
});

test("a kubelet reports, evicts and deletes its own pods alone", async () => {
  const { node, refused } = await stage();
  const status = { status: { phase: "Running" } };
  assert.equal((await node("PATCH", `${PODS}/mine/status`, status)).status, 200);
  await refused(
    "PATCH",
    `${PODS}/theirs/status`,
    status,
    'pods "theirs" is forbidden: node "one" can only update pod status for pods with spec.nodeName set to itself',
  );
  await refused(
    "PATCH",
    `${PODS}/mine/status`,
    { metadata: { labels: { app: "other" } } },
    'pods "mine" is forbidden: node "one" cannot update labels through pod status',
  );
  await refused(
    "POST",
    `${PODS}/theirs/eviction`,
    { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "theirs" } },
    'pods "theirs" is forbidden: node one can only evict pods with spec.nodeName set to itself',
  );
  await refused(
    "DELETE",
    `${PODS}/theirs`,
    undefined,
    'pods "theirs" is forbidden: node "one" can only delete pods with spec.nodeName set to itself',
  );
  assert.equal((await node("DELETE", `${PODS}/mine`, { gracePeriodSeconds: 0 })).status, 200);
});

test("a kubelet creates mirror pods for its node only, and none with references to other objects", async () => {
  const { node, refused, on } = await stage();
  const { body } = await node("POST", "/api/v1/nodes", { metadata: { name: "one" } });
  const owner = { apiVersion: "v1", kind: "Node", name: "one", uid: body.metadata.uid, controller: true };
  const mirror = (more: object = {}, ownerReferences: object[] = [owner], nodeName = "one") => {
    const { metadata, spec } = on(nodeName, "static", more);
    const annotations = { "kubernetes.io/config.mirror": "x" };
    return { metadata: { ...metadata, annotations, ownerReferences }, spec };
  };
  const cases: [object, string][] = [
    [
      on("one", "static"),
      'pod does not have "kubernetes.io/config.mirror" annotation, node "one" can only create mirror pods',
    ],
    [mirror({}, [owner], "two"), 'node "one" can only create pods with spec.nodeName set to itself'],
    [mirror({}, []), 'node "one" can only create pods with an owner reference set to itself'],
    [mirror({}, [{ ...owner, name: "two" }]), 'node "one" can only create pods with an owner reference set to itself'],
    [
      mirror({}, [{ ...owner, controller: false }]),
      'node "one" can only create pods with a controller owner reference set to itself',
    ],
    [
      mirror({}, [{ ...owner, blockOwnerDeletion: true }]),
      'node "one" must not set blockOwnerDeletion on an owner reference',
    ],
    [mirror({}, [{ ...owner, uid: "old" }]), `node one UID mismatch: expected old got ${owner.uid}`],
    [
      mirror({ volumes: [{ name: "s", secret: { secretName: "s" } }] }),
      'node "one" can not create pods that reference secrets',
    ],
    [
      mirror({ volumes: [{ name: "c", configMap: { name: "c" } }] }),
      'node "one" can not create pods that reference configmaps',
    ],
    [mirror({ serviceAccountName: "robot" }), 'node "one" can not create pods that reference serviceaccounts'],
  ];
  for (const [object, why] of cases) await refused("POST", PODS, object, `pods "static" is forbidden: ${why}`);
  assert.equal((await node("POST", PODS, mirror())).status, 201);
});

test("a kubelet requests tokens that are bound to its own pods alone", async () => {
  const { admin, refused } = await stage();
  await admin("POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "robot" } });
  const { uid } = (await admin("GET", `${PODS}/mine`)).body.metadata;
  const other = (await admin("GET", `${PODS}/theirs`)).body.metadata.uid;
  const path = "/api/v1/namespaces/default/serviceaccounts/robot/token";
  const cases: [object, string][] = [
    [{}, "node requested token not bound to a pod"],
    [{ kind: "Pod", apiVersion: "v1", name: "mine" }, "node requested token with a pod binding without a uid"],
    [
      { kind: "Pod", apiVersion: "v1", name: "mine", uid: other },
      `the UID in the bound object reference (${other}) does not match the UID in record. The object might have been deleted and then recreated`,
    ],
    [
      { kind: "Pod", apiVersion: "v1", name: "theirs", uid: other },
      "node requested token bound to a pod scheduled on a different node",
    ],
    [
      { kind: "Pod", apiVersion: "v1", name: "mine", uid },
      'audience "" not found in pod spec volume, system:node:one is not authorized to request tokens for this audience',
    ],
  ];
  for (const [boundObjectRef, why] of cases) {
    const bound = Object.keys(boundObjectRef).length > 0;
    const body = { spec: { audiences: [], ...(bound && { boundObjectRef }) } };
    await refused("POST", path, body, `serviceaccounts "robot" is forbidden: ${why}`);
  }
});

test("a kubelet creates only the Lease and the CSINode with its node's name", async () => {
  const { node, refused } = await stage();
  const lease = (name: string) => ({ metadata: { name }, spec: { holderIdentity: name } });
  assert.equal((await node("POST", LEASES, lease("one"))).status, 201);
  await refused(
    "POST",
    LEASES,
    lease("two"),
    'leases.coordination.k8s.io "two" is forbidden: can only access node lease with the same name as the requesting node',
  );
  const csi = (name: string) => ({ metadata: { name }, spec: { drivers: [] } });
  assert.equal((await node("POST", "/apis/storage.k8s.io/v1/csinodes", csi("one"))).status, 201);
  await refused(
    "POST",
    "/apis/storage.k8s.io/v1/csinodes",
    csi("two"),
    'csinodes.storage.k8s.io "two" is forbidden: can only access CSINode with the same name as the requesting node',
  );
});
