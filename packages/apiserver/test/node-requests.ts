import type { User } from "../src/auth/user.ts";

/** The kubelet of a node. */
export const kubelet = (node: string): User => ({
  name: `system:node:${node}`,
  groups: ["system:nodes", "system:authenticated"],
});

/** A pod in the namespace `team`. */
export const pod = (name: string, nodeName: string | undefined, spec: object = {}, more: object = {}) => ({
  metadata: { name, namespace: "team" },
  spec: {
    ...(nodeName && { nodeName }),
    serviceAccountName: `${name}-account`,
    containers: [{ name: "main", image: "app" }],
    ...spec,
  },
  ...more,
});

/** Where the pods are. */
export const TEAM = "/api/v1/namespaces/team";

/** What node `one` may do because of its pod, and node `two` may not. */
export const NEEDED: readonly (readonly [method: string, path: string])[] = [
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

/** What node `one` may do because of its name. */
export const OWN: readonly (readonly [method: string, path: string])[] = [
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
/** What node `one` may not do, and why. */
export const REFUSED: readonly (readonly [method: string, path: string, reason: string])[] = [
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

const CLAIM = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };

/** A pod on node `one` that needs one of everything, one on node `two`, and what belongs to node `one`: by collection. */
export function clusterObjects(): Readonly<Record<string, readonly object[]>> {
  const needy = pod(
    "web",
    "one",
    {
      imagePullSecrets: [{ name: "pull" }],
      containers: [
        {
          name: "main",
          image: "app",
          env: [
            { name: "A", valueFrom: { secretKeyRef: { name: "env", key: "a" } } },
            { name: "B", valueFrom: { configMapKeyRef: { name: "env", key: "b" } } },
          ],
          envFrom: [{ secretRef: { name: "all" } }, { configMapRef: { name: "all" } }],
        },
      ],
      initContainers: [{ name: "first", image: "app", envFrom: [{ secretRef: { name: "init" } }] }],
      ephemeralContainers: [{ name: "debug", image: "app", envFrom: [{ configMapRef: { name: "debug" } }] }],
      volumes: [
        { name: "s", secret: { secretName: "mounted" } },
        { name: "c", configMap: { name: "mounted" } },
        { name: "p", projected: { sources: [{ secret: { name: "shown" } }, { configMap: { name: "shown" } }] } },
        { name: "i", csi: { driver: "d", nodePublishSecretRef: { name: "inline" } } },
        { name: "data", persistentVolumeClaim: { claimName: "data" } },
        { name: "scratch", ephemeral: { volumeClaimTemplate: { spec: CLAIM } } },
      ],
      resourceClaims: [
        { name: "gpu", resourceClaimName: "gpu" },
        { name: "made", resourceClaimTemplateName: "template" },
      ],
    },
    { status: { resourceClaimStatuses: [{ name: "made", resourceClaimName: "web-made-x" }] } },
  );
  const csi = {
    driver: "d",
    volumeHandle: "h",
    nodeStageSecretRef: { namespace: "storage", name: "stage" },
    controllerPublishSecretRef: { namespace: "storage", name: "publish" },
  };
  const volume = {
    metadata: { name: "volume" },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      claimRef: { namespace: "team", name: "data" },
      csi,
    },
  };
  const attachment = {
    metadata: { name: "attachment" },
    spec: { nodeName: "one", attacher: "d", source: { persistentVolumeName: "volume" } },
  };
  const slice = {
    metadata: { name: "slice" },
    spec: { nodeName: "one", driver: "d", pool: { name: "p", generation: 1, resourceSliceCount: 1 } },
  };
  return {
    "/pods": [needy, pod("other", "two"), pod("waiting", undefined)],
    "/persistentvolumes": [volume],
    "storage.k8s.io/volumeattachments": [attachment],
    "resource.k8s.io/resourceslices": [slice],
  };
}
