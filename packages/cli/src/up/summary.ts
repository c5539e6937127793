import type { RunningCluster } from "./running-clusters.ts";

/** What `konverge up` says when the cluster is ready. */
export function summary({ name, url, kubeconfig, merged }: RunningCluster, background: boolean): string {
  const access = merged
    ? [`  context "${name}" is the current one in ${kubeconfig}`, "  kubectl get nodes"]
    : [`  kubectl --kubeconfig ${kubeconfig} get nodes`];
  return [
    `Cluster ${name} is ready at ${url}`,
    ...access,
    "",
    "Real: the API server (validation, admission, RBAC, watches), the built-in controllers, the scheduler.",
    "Simulated: nodes and containers. Pods are scheduled, run and become ready; their images are neither pulled nor executed,",
    "except those with programs: the operators' (--operators) and yours (--program).",
    background ? `\nEnd it with: konverge down --name ${name}` : "\nEnd it with Ctrl-C.",
  ].join("\n");
}
