import assert from "node:assert/strict";
import { test } from "node:test";
import { clusterObjects, kubelet, NEEDED, OWN, pod, REFUSED, TEAM } from "../../../test/node-requests.ts";
import { emptyStore, putObjects, removeObject } from "../../../test/role-store.ts";
import { requestInfo } from "../../http/request-info.ts";
import { attributesOf } from "../attributes.ts";
import { Authorizer } from "../rbac/authorizer.ts";
import type { User } from "../user.ts";

function stage() {
  const { store } = emptyStore();
  const authorizer = new Authorizer(store);
  for (const [resource, objects] of Object.entries(clusterObjects())) putObjects(store, resource, ...objects);
  const ask = (user: User, method: string, path: string) =>
    authorizer.authorize(user, attributesOf(requestInfo({ method, path })));
  return { store, authorizer, ask };
}

test("a node reads what its pods need, and no other node does", () => {
  const { ask } = stage();
  for (const [method, path] of NEEDED) {
    assert.deepEqual(ask(kubelet("one"), method, path), { allowed: true, reason: "" }, `${method} ${path}`);
    const reason = "no relationship found between node 'two' and this object";
    assert.deepEqual(ask(kubelet("two"), method, path), { allowed: false, reason }, `${method} ${path}`);
  }
});

test("a node writes about itself and reads what all nodes may", () => {
  const { ask } = stage();
  for (const [method, path] of OWN) {
    assert.deepEqual(ask(kubelet("one"), method, path), { allowed: true, reason: "" }, `${method} ${path}`);
  }
});

test("a node is refused everything else, with the reason", () => {
  const { ask } = stage();
  for (const [method, path, reason] of REFUSED) {
    assert.deepEqual(ask(kubelet("one"), method, path), { allowed: false, reason }, `${method} ${path}`);
  }
});

test("a node has no access before a pod is bound to it, and none after the pod is deleted", () => {
  const { store, ask } = stage();
  const secret = (user: User) => ask(user, "GET", `${TEAM}/secrets/late`).allowed;
  const late = pod("late", undefined, { volumes: [{ name: "s", secret: { secretName: "late" } }] });
  putObjects(store, "/pods", late);
  assert.equal(secret(kubelet("one")), false);
  putObjects(store, "/pods", { ...late, spec: { ...late.spec, nodeName: "one" } });
  assert.equal(secret(kubelet("one")), true);
  removeObject(store, "/pods", "team/late");
  assert.equal(secret(kubelet("one")), false);
});

test("a mirror pod, which a node creates itself, gives the node nothing but the pod", () => {
  const { store, ask } = stage();
  const mirror = pod("static", "two", { volumes: [{ name: "s", secret: { secretName: "env" } }] });
  const annotations = { "kubernetes.io/config.mirror": "x" };
  putObjects(store, "/pods", { ...mirror, metadata: { ...mirror.metadata, annotations } });
  assert.equal(ask(kubelet("two"), "GET", `${TEAM}/pods/static`).allowed, true);
  assert.equal(ask(kubelet("two"), "GET", `${TEAM}/secrets/env`).allowed, false);
  assert.equal(ask(kubelet("two"), "GET", `${TEAM}/serviceaccounts/static-account`).allowed, false);
});

test("only members of system:nodes with a node's name are nodes, and roles still give them more", () => {
  const { store, ask } = stage();
  const path = `${TEAM}/secrets/env`;
  const stranger = { name: "system:node:one", groups: ["system:authenticated"] };
  assert.deepEqual(ask(stranger, "GET", path), { allowed: false, reason: "" });
  assert.deepEqual(ask({ name: "jane", groups: ["system:nodes"] }, "GET", path), { allowed: false, reason: "" });
  assert.deepEqual(ask(kubelet(""), "GET", path), {
    allowed: false,
    reason: 'unknown node for user "system:node:"',
  });
  const group = "rbac.authorization.k8s.io";
  const rules = [{ apiGroups: [""], resources: ["nodes"], verbs: ["list"] }];
  putObjects(store, `${group}/clusterroles`, { kind: "ClusterRole", metadata: { name: "reader" }, rules });
  putObjects(store, `${group}/clusterrolebindings`, {
    kind: "ClusterRoleBinding",
    metadata: { name: "readers" },
    roleRef: { apiGroup: group, kind: "ClusterRole", name: "reader" },
    subjects: [{ kind: "Group", name: "system:nodes" }],
  });
  assert.equal(ask(kubelet("one"), "GET", "/api/v1/nodes").allowed, true);
});
