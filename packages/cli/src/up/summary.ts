import type { RunningCluster } from "./running-clusters.ts";

/** What `konverge up` says when the cluster is ready. */
export function summary({ name, url, kubeconfig, merged, realNodes = 0 }: RunningCluster, background: boolean): string {
  const real = "the API server (validation, admission, RBAC, watches), the built-in controllers, the scheduler";
  const access = merged
    ? [`  context "${name}" is the current one in ${kubeconfig}`, "  kubectl get nodes"]
    : [`  kubectl --kubeconfig ${kubeconfig} get nodes`];
  const simulated = [
    `Real: ${real}.`,
    "Simulated: nodes and containers. Pods are scheduled, run and become ready; their images are not pulled or executed,",
    "except those that are programs: the operators' (--operators) and yours (--program).",
  ];
  return [
    `Cluster ${name} is ready at ${url}`,
    ...access,
    "",
    ...(realNodes > 0
      ? [`Real: ${real},`, `nodes (${realNodes}) and their containers, which run as root on this machine.`]
      : simulated),
    background ? `\nEnd it with: konverge down --name ${name}` : "\nEnd it with Ctrl-C.",
  ].join("\n");
}
