import { removeContext } from "./kubeconfig-file.ts";
import { forgetRunning, type RunningCluster } from "./running-clusters.ts";

/** Removes the traces of a cluster that has ended. */
export async function takeBack({ name, kubeconfig, url }: RunningCluster): Promise<void> {
  // Whatever has become of the kubeconfig: the cluster runs no more.
  forgetRunning(name);
  await removeContext(kubeconfig, name, url);
}
