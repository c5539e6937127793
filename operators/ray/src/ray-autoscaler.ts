import { type Container, type EnvVar, Role, RoleBinding, ServiceAccount, type VolumeMount } from "konverge/kinds";
import { truncatedName } from "konverge/objects";
import { tokenMounts, tokenVariables } from "./ray-auth.ts";
import type { RayCluster } from "./ray-cluster.ts";

/** Where Ray writes its logs, which the autoscaler and the dashboard share. */
export const LOGS = "ray-logs";
export const LOGS_MOUNT: VolumeMount = { name: LOGS, mountPath: "/tmp/ray" };
const CLUSTER = "ray.io/cluster";
/** As upstream gives it: it asks the head and the API server now and then. */
const START = "ray kuberay-autoscaler --cluster-name $(RAY_CLUSTER_NAME) --cluster-namespace $(RAY_CLUSTER_NAMESPACE)";
/** What another command of the user can call: the one that it replaces. */
const GENERATED_COMMAND = "KUBERAY_GEN_AUTOSCALER_START_CMD";
const RESOURCES = { cpu: "500m", memory: "512Mi" };

/** Whether Ray's own autoscaler decides how many workers there are, and which of them go. */
export const isAutoscaled = ({ spec }: RayCluster) => spec.enableInTreeAutoscaling === true;

/** Whether it is the second generation of it, which replaces nodes itself instead of having them restarted. */
export const isSecondGeneration = (cluster: RayCluster) =>
  isAutoscaled(cluster) && cluster.spec.autoscalerOptions?.version === "v2";

/** The account that the head, and with it the autoscaler, acts in: its template's, or one that is made for it. */
export function headAccountName({ metadata, spec }: RayCluster): string {
  return spec.headGroupSpec.template.spec?.serviceAccountName || truncatedName(metadata.name);
}

/** What the autoscaler may do in the namespace of its cluster. */
export const AUTOSCALER_RULES = [
  { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
  { apiGroups: ["ray.io"], resources: ["rayclusters"], verbs: ["get", "patch"] },
];

/** What the autoscaler needs besides its container: an account, and the right to ask for more or fewer workers. */
export function autoscalerChildren(cluster: RayCluster) {
  if (!isAutoscaled(cluster)) return [];
  const { name, namespace } = cluster.metadata;
  const labels = {
    [CLUSTER]: name,
    "app.kubernetes.io/name": "kuberay",
    "app.kubernetes.io/created-by": "kuberay-operator",
  };
  const metadata = { name: truncatedName(name), namespace, labels };
  const account = ServiceAccount.draft({ metadata });
  const role = Role.draft({
    metadata,
    rules: AUTOSCALER_RULES.map((rule) => ({ ...rule })),
  });
  const binding = RoleBinding.draft({
    metadata,
    subjects: [{ kind: "ServiceAccount", name: headAccountName(cluster), namespace: namespace! }],
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: metadata.name },
  });
  // A service account that a template names is not managed.
  return cluster.spec.headGroupSpec.template.spec?.serviceAccountName ? [role, binding] : [account, role, binding];
}

/**
 * The autoscaler: a container beside the head's. What its options do not say is as in the head's container: a head with TLS
 * accepts only clients that have its certificates.
 */
export function autoscalerContainer(cluster: RayCluster, head: Container): Container {
  const { image, imagePullPolicy, resources, securityContext, env, envFrom, volumeMounts, command, args } =
    cluster.spec.autoscalerOptions ?? {};
  return {
    name: "autoscaler",
    image: image ?? head.image!,
    imagePullPolicy: imagePullPolicy ?? "IfNotPresent",
    command: command ?? ["/bin/bash", "-c", "--"],
    args: args ?? [START],
    env: byName([...(head.env ?? []), ...tokenVariables(cluster), ...(env ?? []), ...variables()]),
    ...((envFrom ?? head.envFrom) && { envFrom: envFrom ?? head.envFrom! }),
    resources: resources ?? { requests: RESOURCES, limits: RESOURCES },
    ...((securityContext ?? head.securityContext) && { securityContext: securityContext ?? head.securityContext! }),
    volumeMounts: byPath([...(head.volumeMounts ?? []), ...tokenMounts(cluster), ...(volumeMounts ?? []), LOGS_MOUNT]),
  };
}

const byName = (all: readonly EnvVar[]): EnvVar[] => [...new Map(all.map((one) => [one.name, one])).values()];
const byPath = (all: readonly VolumeMount[]): VolumeMount[] => [
  ...new Map(all.map((one) => [one.mountPath, one])).values(),
];

function variables(): EnvVar[] {
  const field = (name: string, fieldPath: string): EnvVar => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  return [
    field("RAY_CLUSTER_NAME", `metadata.labels['${CLUSTER}']`),
    field("RAY_CLUSTER_NAMESPACE", "metadata.namespace"),
    field("RAY_HEAD_POD_NAME", "metadata.name"),
    { name: "KUBERAY_CRD_VER", value: "v1" },
    { name: GENERATED_COMMAND, value: START },
  ];
}
