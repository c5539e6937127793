import { removeContext } from "./kubeconfig-file.ts";
import { forgetRunning, type RunningCluster } from "./running-clusters.ts";

/** Removes the traces of a cluster that has ended. */
export function takeBack(noted: RunningCluster): void {
  if (noted.merged) removeContext(noted.kubeconfig, noted.name);
  forgetRunning(noted.name);
}
