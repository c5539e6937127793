import { dirname } from "node:path";
import { findControlPlane } from "@konverge/real";
import { bashShell, type Shell } from "@konverge/testing";

/** Where kubectl is, or why there is none. */
export function kubectlFolder(): { folder: string } | { why: string } {
  const plane = findControlPlane();
  if (!plane.available) return { why: plane.why };
  const path = plane.assets["kubectl"];
  return path ? { folder: dirname(path) } : { why: `there is no kubectl in ${plane.folder}` };
}

/** A shell whose kubectl speaks to the cluster of a kubeconfig. */
export function shellFor(kubeconfig: string, namespace: string): Shell {
  const found = kubectlFolder();
  if ("why" in found) throw new Error(found.why);
  return bashShell(found.folder, kubeconfig, namespace);
}
