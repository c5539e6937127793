import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyStore, putObjects, removeObject } from "../../../test/role-store.ts";
import { requestInfo } from "../../http/request-info.ts";
import { attributesOf } from "../attributes.ts";
import { Authorizer } from "../rbac/authorizer.ts";
import type { User } from "../user.ts";

const kubelet = (node: string): User => ({
  name: `system:node:${node}`,
  groups: ["system:nodes", "system:authenticated"],
});

const pod = (name: string, nodeName: string | undefined, spec: object = {}, more: object = {}) => ({
  metadata: { name, namespace: "team" },
  spec: { ...(nodeName && { nodeName }), serviceAccountName: `${name}-account`, containers: [], ...spec },
  ...more,
});

/** A store with a pod on node `one` that needs one of everything. */
function stage() {
  const { store } = emptyStore();
  const authorizer = new Authorizer(store);
  const needy = pod(
    "web",
    "one",
    {
      imagePullSecrets: [{ name: "pull" }],
      containers: [
        {
          name: "main",
          env: [
            { name: "A", valueFrom: { secretKeyRef: { name: "env", key: "a" } } },
            { name: "B", valueFrom: { configMapKeyRef: { name: "env", key: "b" } } },
          ],
          envFrom: [{ secretRef: { name: "all" } }, { configMapRef: { name: "all" } }],
        },
      ],
      initContainers: [{ name: "first", envFrom: [{ secretRef: { name: "init" } }] }],
      ephemeralContainers: [{ name: "debug", envFrom: [{ configMapRef: { name: "debug" } }] }],
      volumes: [
        { name: "s", secret: { secretName: "mounted" } },
        { name: "c", configMap: { name: "mounted" } },
        { name: "p", projected: { sources: [{ secret: { name: "shown" } }, { configMap: { name: "shown" } }] } },
        { name: "i", csi: { driver: "d", nodePublishSecretRef: { name: "inline" } } },
        { name: "data", persistentVolumeClaim: { claimName: "data" } },
        { name: "scratch", ephemeral: { volumeClaimTemplate: {} } },
      ],
      resourceClaims: [
        { name: "gpu", resourceClaimName: "gpu" },
        { name: "made", resourceClaimTemplateName: "template" },
      ],
    },
    { status: { resourceClaimStatuses: [{ name: "made", resourceClaimName: "web-made-x" }] } },
  );
  putObjects(store, "/pods", needy, pod("other", "two"), pod("waiting", undefined));
  const csi = {
    driver: "d",
    volumeHandle: "h",
    nodeStageSecretRef: { namespace: "storage", name: "stage" },
    controllerPublishSecretRef: { namespace: "storage", name: "publish" },
  };
  putObjects(store, "/persistentvolumes", {
    metadata: { name: "volume" },
    spec: { claimRef: { namespace: "team", name: "data" }, csi },
  });
  const attachment = { metadata: { name: "attachment" }, spec: { nodeName: "one" } };
  putObjects(store, "storage.k8s.io/volumeattachments", attachment);
  putObjects(store, "resource.k8s.io/resourceslices", { metadata: { name: "slice" }, spec: { nodeName: "one" } });
  const ask = (user: User, method: string, path: string) =>
    authorizer.authorize(user, attributesOf(requestInfo({ method, path })));
  return { store, authorizer, ask };
}

const TEAM = "/api/v1/namespaces/team";

/** What node `one` may do because of its pod, and node `two` may not. */
const NEEDED: readonly (readonly [method: string, path: string])[] = [
  ...["pull", "env", "all", "init", "mounted", "shown", "inline"].map(
    (name) => ["GET", `${TEAM}/secrets/${name}`] as const,
  ),
  ...["env", "all", "debug", "mounted", "shown"].map((name) => ["GET", `${TEAM}/configmaps/${name}`] as const),
  ["GET", `${TEAM}/secrets?fieldSelector=metadata.name%3Denv`],
  ["GET", `${TEAM}/configmaps?watch=1&fieldSelector=metadata.name%3Denv`],
  ["GET", `${TEAM}/persistentvolumeclaims/data`],
  ["GET", `${TEAM}/persistentvolumeclaims/web-scratch`],
  ["PATCH", `${TEAM}/persistentvolumeclaims/data/status`],
  ["GET", "/api/v1/persistentvolumes/volume"],
  ["GET", "/api/v1/namespaces/storage/secrets/stage"],
  ["GET", "/apis/storage.k8s.io/v1/volumeattachments/attachment"],
  ["GET", "/apis/resource.k8s.io/v1/namespaces/team/resourceclaims/gpu"],
  ["GET", "/apis/resource.k8s.io/v1/namespaces/team/resourceclaims/web-made-x"],
  ["PUT", "/apis/resource.k8s.io/v1/resourceslices/slice"],
  ["GET", `${TEAM}/serviceaccounts/web-account`],
  ["POST", `${TEAM}/serviceaccounts/web-account/token`],
  ["GET", `${TEAM}/pods/web`],
  ["GET", `${TEAM}/pods?fieldSelector=metadata.name%3Dweb`],
];

test("a node reads what its pods need, and no other node does", () => {
  const { ask } = stage();
  for (const [method, path] of NEEDED) {
    assert.deepEqual(ask(kubelet("one"), method, path), { allowed: true, reason: "" }, `${method} ${path}`);
    const reason = "no relationship found between node 'two' and this object";
    assert.deepEqual(ask(kubelet("two"), method, path), { allowed: false, reason }, `${method} ${path}`);
  }
});

const OWN: readonly (readonly [method: string, path: string])[] = [
  ["GET", "/api/v1/nodes/one"],
  ["GET", "/api/v1/nodes?watch=1&fieldSelector=metadata.name%3Done"],
  ["POST", "/api/v1/nodes"],
  ["PATCH", "/api/v1/nodes/one/status"],
  ["GET", "/api/v1/pods?watch=1&fieldSelector=spec.nodeName%3Done"],
  ["PATCH", `${TEAM}/pods/web/status`],
  ["POST", `${TEAM}/pods/web/eviction`],
  ["DELETE", `${TEAM}/pods/web`],
  ["PUT", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/one"],
  ["POST", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"],
  ["PATCH", "/apis/storage.k8s.io/v1/csinodes/one"],
  ["GET", "/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName%3Done"],
  ["GET", "/api/v1/services?watch=1"],
  ["GET", "/apis/node.k8s.io/v1/runtimeclasses"],
  ["POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests"],
  ["POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews"],
  ["POST", `${TEAM}/events`],
];

const UNRELATED = "no relationship found between node 'one' and this object";
const REFUSED: readonly (readonly [method: string, path: string, reason: string])[] = [
  ["GET", `${TEAM}/secrets/unused`, UNRELATED],
  ["GET", "/api/v1/namespaces/elsewhere/secrets/env", UNRELATED],
  ["GET", "/api/v1/namespaces/storage/secrets/publish", UNRELATED],
  ["GET", `${TEAM}/secrets`, "No Object name found"],
  ["GET", "/api/v1/secrets", "can only read namespaced object of this type"],
  ["PUT", `${TEAM}/secrets/env`, "can only read resources of this type"],
  ["DELETE", `${TEAM}/configmaps/env`, "can only read resources of this type"],
  ["GET", `${TEAM}/persistentvolumeclaims`, "can only get individual resources of this type"],
  ["GET", `${TEAM}/persistentvolumeclaims/data/status`, "can only get/update/patch this type"],
  ["PATCH", "/api/v1/persistentvolumes/volume", "can only get individual resources of this type"],
  ["GET", "/api/v1/persistentvolumes/volume/status", "cannot get subresource"],
  ["GET", `${TEAM}/serviceaccounts`, "can only create tokens for individual service accounts"],
  ["GET", `${TEAM}/serviceaccounts/other-account`, UNRELATED],
  ["POST", `${TEAM}/serviceaccounts/other-account/token`, UNRELATED],
  ["POST", `${TEAM}/serviceaccounts`, "can only create tokens for individual service accounts"],
  ["GET", "/api/v1/nodes", "node 'one' cannot read all nodes, only its own Node object"],
  ["GET", "/api/v1/nodes/two", "node 'one' cannot read 'two', only its own Node object"],
  ["DELETE", "/api/v1/nodes/one", ""],
  ["GET", "/api/v1/nodes/one/proxy", ""],
  ["GET", `${TEAM}/pods/other`, UNRELATED],
  ["GET", `${TEAM}/pods/waiting`, UNRELATED],
  ["GET", "/api/v1/pods", "can only list/watch pods with spec.nodeName field selector"],
  [
    "GET",
    "/api/v1/pods?fieldSelector=spec.nodeName%3Dtwo",
    "can only list/watch pods with spec.nodeName field selector",
  ],
  [
    "GET",
    "/api/v1/pods?fieldSelector=spec.nodeName%21%3Done",
    "can only list/watch pods with spec.nodeName field selector",
  ],
  ["PATCH", `${TEAM}/pods/web`, ""],
  ["POST", `${TEAM}/pods/web/exec`, ""],
  [
    "GET",
    "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
    "can only get, create, update, patch, or delete a node lease",
  ],
  [
    "GET",
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/one",
    'can only access leases in the "kube-node-lease" system namespace',
  ],
  [
    "GET",
    "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/two",
    "can only access node lease with the same name as the requesting node",
  ],
  ["GET", "/apis/storage.k8s.io/v1/csinodes", "can only get, create, update, patch, or delete a CSINode"],
  ["GET", "/apis/storage.k8s.io/v1/csinodes/two", "can only access CSINode with the same name as the requesting node"],
  ["PUT", "/apis/storage.k8s.io/v1/csinodes/one/status", "cannot authorize CSINode subresources"],
  [
    "GET",
    "/apis/resource.k8s.io/v1/resourceslices",
    "can only list/watch/deletecollection resourceslices with nodeName field selector",
  ],
  ["PUT", "/apis/storage.k8s.io/v1/volumeattachments/attachment", "can only get individual resources of this type"],
  ["GET", "/apis/apps/v1/deployments", ""],
  ["GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles", ""],
];

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

test("a node has no access before a pod is bound to it, and none after the pod is gone", () => {
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
  const nobody = { name: "system:node:one", groups: ["system:authenticated"] };
  assert.deepEqual(ask(nobody, "GET", path), { allowed: false, reason: "" });
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
