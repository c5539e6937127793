import type { FieldError } from "konverge";
import { NetworkPolicy, type NetworkPolicyEgressRule, type NetworkPolicyIngressRule } from "konverge/kinds";
import { truncatedName } from "konverge/objects";
import { fieldInvalid } from "konverge/webhooks";
import { CLUSTER, GROUP, HEAD_GROUP, headPorts, NODE_TYPE } from "./ray-children.ts";
import type { RayCluster } from "./ray-cluster.ts";
import { originKind, originLabels, originName } from "./ray-origin.ts";

interface Rules {
  readonly ingressRules?: readonly NetworkPolicyIngressRule[] | undefined;
  readonly egressRules?: readonly NetworkPolicyEgressRule[] | undefined;
}

/**
 * What isolates the pods of a cluster: one policy for the head and one for each group. Pods of a cluster always reach each
 * other; nothing else is added for the user, neither DNS nor the API server.
 */
export function networkPoliciesFor(cluster: RayCluster) {
  const { networkPolicy: options, workerGroupSpecs = [] } = cluster.spec;
  if (!options) return [];
  const own = new Map(options.workerGroups?.map((group) => [group.groupName, group]));
  return [
    policyFor(cluster, "head", HEAD_GROUP, options.head, submitterRules(cluster)),
    ...workerGroupSpecs.map(({ groupName }) =>
      policyFor(cluster, "worker", groupName, own.get(groupName) ?? options.worker, []),
    ),
  ];
}

function policyFor(
  cluster: RayCluster,
  type: "head" | "worker",
  group: string,
  rules: Rules | undefined,
  others: readonly NetworkPolicyIngressRule[],
) {
  const { name, namespace } = cluster.metadata;
  const { mode = "DenyAll" } = cluster.spec.networkPolicy!;
  const peers = [{ podSelector: { matchLabels: { [CLUSTER]: name } } }];
  return NetworkPolicy.draft({
    metadata: {
      name: truncatedName(type === "head" ? `${name}-head` : `${name}-workers-${group}`),
      namespace,
      labels: {
        [CLUSTER]: name,
        [GROUP]: group,
        "app.kubernetes.io/name": "kuberay",
        "app.kubernetes.io/created-by": "kuberay-operator",
      },
    },
    spec: {
      podSelector: {
        matchLabels: { [CLUSTER]: name, [NODE_TYPE]: type, ...(type === "worker" && { [GROUP]: group }) },
      },
      policyTypes:
        mode === "DenyAllEgress" ? ["Egress"] : mode === "DenyAllIngress" ? ["Ingress"] : ["Ingress", "Egress"],
      ...(mode !== "DenyAllEgress" && { ingress: [{ from: peers }, ...others, ...(rules?.ingressRules ?? [])] }),
      ...(mode !== "DenyAllIngress" && { egress: [{ to: peers }, ...(rules?.egressRules ?? [])] }),
    },
  });
}

/** The pod that submits a job connects to the dashboard from outside the cluster. */
function submitterRules(cluster: RayCluster): NetworkPolicyIngressRule[] {
  if (originKind(cluster) !== "RayJob") return [];
  const matchLabels = originLabels("RayJob", originName(cluster) ?? "");
  const port = headPorts(cluster)["dashboard"]!;
  return [{ from: [{ podSelector: { matchLabels } }], ports: [{ protocol: "TCP", port }] }];
}

/** Rules of a group that does not exist would protect nothing. */
export function networkPolicyErrors(
  { networkPolicy, workerGroupSpecs = [] }: RayCluster["spec"],
  at: string,
): FieldError[] {
  const groups = new Set(workerGroupSpecs.map(({ groupName }) => groupName));
  return (networkPolicy?.workerGroups ?? []).flatMap(({ groupName }, i) =>
    groups.has(groupName)
      ? []
      : [
          fieldInvalid(
            `${at}.networkPolicy.workerGroups[${i}].groupName`,
            groupName,
            "there is no such group of workers",
          ),
        ],
  );
}
