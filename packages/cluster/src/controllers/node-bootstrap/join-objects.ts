import type { Client } from "@konverge/client";
import { ClusterRole, ClusterRoleBinding, ConfigMap, Role, RoleBinding } from "@konverge/kinds";
import { TOKEN_GROUP } from "./bootstrap-token.ts";

/** What new nodes read before they trust anything: where the cluster is, and the certificate of its authority. */
export const CLUSTER_INFO = "cluster-info";
export const CLUSTER_INFO_NAMESPACE = "kube-public";

/** The user by whose certificate kubelets know the API server. */
export const KUBELET_CLIENT = "kube-apiserver-kubelet-client";

/** The field manager of these objects. */
const FIELD_MANAGER = "konverge";
const GROUP = "rbac.authorization.k8s.io";

const binding = (name: string, role: string, subject: { kind: string; name: string }) => ({
  metadata: { name: `kubeadm:${name}` },
  roleRef: { apiGroup: GROUP, kind: "ClusterRole", name: role },
  subjects: [{ apiGroup: GROUP, ...subject }],
});

const BOOTSTRAPPERS = { kind: "Group", name: TOKEN_GROUP };
const APPROVAL = "system:certificates.k8s.io:certificatesigningrequests";

/** Under kubeadm's names, so that what is written about its clusters holds here. */
const CLUSTER_ROLE_BINDINGS = [
  binding("kubelet-bootstrap", "system:node-bootstrapper", BOOTSTRAPPERS),
  binding("get-nodes", "kubeadm:get-nodes", BOOTSTRAPPERS),
  binding("node-autoapprove-bootstrap", `${APPROVAL}:nodeclient`, BOOTSTRAPPERS),
  binding("node-autoapprove-certificate-rotation", `${APPROVAL}:selfnodeclient`, {
    kind: "Group",
    name: "system:nodes",
  }),
  // kube-proxy uses the credentials of its node's kubelet: a bootstrap token is all that a node needs to join.
  binding("nodes-proxier", "system:node-proxier", { kind: "Group", name: "system:nodes" }),
  binding("apiserver-kubelet-client", "system:kubelet-api-admin", { kind: "User", name: KUBELET_CLIENT }),
];

const READS_CLUSTER_INFO = { name: "kubeadm:bootstrap-signer-clusterinfo", namespace: CLUSTER_INFO_NAMESPACE };

/**
 * Lets nodes join: a client with a bootstrap token may request a node's certificate, which is approved, as is its renewal;
 * and every client may read where the cluster is.
 */
export async function allowNodesToJoin(client: Client): Promise<void> {
  const applied = { fieldManager: FIELD_MANAGER, force: true };
  const getNodes = {
    metadata: { name: "kubeadm:get-nodes" },
    rules: [{ apiGroups: [""], resources: ["nodes"], verbs: ["get"] }],
  };
  const readInfo = {
    metadata: READS_CLUSTER_INFO,
    rules: [{ apiGroups: [""], resources: ["configmaps"], resourceNames: [CLUSTER_INFO], verbs: ["get"] }],
  };
  const infoReaders = {
    metadata: READS_CLUSTER_INFO,
    roleRef: { apiGroup: GROUP, kind: "Role", name: READS_CLUSTER_INFO.name },
    subjects: [{ apiGroup: GROUP, kind: "User", name: "system:anonymous" }],
  };
  // Direct writes: the objects by which nodes join belong to the cluster, and have no owner.
  await client.apply(ClusterRole, getNodes, applied);
  await client.apply(Role, readInfo, applied);
  await client.apply(RoleBinding, infoReaders, applied);
  for (const one of CLUSTER_ROLE_BINDINGS) await client.apply(ClusterRoleBinding, one, applied);
}

/** Publishes where the cluster is. The signatures of tokens are left to their controller. */
export async function publishClusterInfo(client: Client, server: string, ca: string): Promise<void> {
  const kubeconfig = [
    "apiVersion: v1",
    "clusters:",
    "- cluster:",
    `    certificate-authority-data: ${Buffer.from(ca).toString("base64")}`,
    `    server: ${server}`,
    '  name: ""',
    "contexts: null",
    'current-context: ""',
    "kind: Config",
    "users: null",
    "",
  ].join("\n");
  const metadata = { name: CLUSTER_INFO, namespace: CLUSTER_INFO_NAMESPACE };
  await client.apply(ConfigMap, { metadata, data: { kubeconfig } }, { fieldManager: FIELD_MANAGER, force: true });
}
