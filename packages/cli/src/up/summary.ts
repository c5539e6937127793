import type { RunningCluster } from "./running-clusters.ts";

/** What `konverge up` says when the cluster is ready. */
export function summary(cluster: RunningCluster & { console?: string }, background: boolean): string {
  const { name, url, kubeconfig, merged, realNodes = 0, console } = cluster;
  const real = "the API server (validation, admission, RBAC, watches), the built-in controllers, the scheduler";
  const access = merged
    ? [`  context "${name}" is the current one in ${kubeconfig}`, "  kubectl get nodes"]
    : [`  kubectl --kubeconfig ${kubeconfig} get nodes`];
  const simulated = [
    `Real: ${real}.`,
    "Simulated: nodes and containers. Pods are scheduled, run and become ready; their images are neither pulled nor executed,",
    "except those with programs: the operators' (--operators) and yours (--program).",
  ];
  return [
    `Cluster ${name} is ready at ${url}`,
    ...access,
    "",
    ...(realNodes > 0
      ? [`Real: ${real},`, `nodes (${realNodes}) and their containers, which run as root on this machine.`]
      : simulated),
    background ? `\nEnd it with: konverge down --name ${name}` : "\nEnd it with Ctrl-C.",
    ...(console === undefined ? [] : [`\nThe console is at\n  ${console}`]),
  ].join("\n");
}
