import { configMapsOf, secretsOf } from "../auth/node/references.ts";
import type { Pod } from "../codec/objects.ts";

/** Volumes that need another API object, by their field: what that is. */
const VOLUMES = {
  configMap: "configmaps (via configmap volumes)",
  secret: "secrets (via secret volumes)",
  csi: "csidrivers (via CSI volumes)",
  glusterfs: "endpoints (via glusterFS volumes)",
  persistentVolumeClaim: "persistentvolumeclaims",
  ephemeral: "persistentvolumeclaims (via ephemeral volumes)",
  azureFile: "secrets (via azureFile volumes)",
};
const PROJECTED = {
  configMap: "configmaps (via projected volumes)",
  secret: "secrets (via projected volumes)",
  serviceAccountToken: "serviceaccounts (via projected volumes)",
  clusterTrustBundle: "clustertrustbundles",
  podCertificate: "podcertificates",
};

/** What a pod cannot run without and only the API server has; undefined when there is nothing. */
export function referenceOfPod(pod: Pod): string | undefined {
  const { spec } = pod;
  if (spec.serviceAccountName) return "serviceaccounts";
  if (secretsOf(pod).length > 0) return "secrets";
  if (configMapsOf(pod).length > 0) return "configmaps";
  if (spec.resourceClaims?.length) return "resourceclaims";
  for (const volume of spec.volumes ?? []) {
    const found = named(volume, VOLUMES);
    if (found) return found;
    for (const source of volume.projected?.sources ?? []) {
      const projected = named(source, PROJECTED);
      if (projected) return projected;
    }
  }
  return undefined;
}

function named(of: object, names: Readonly<Record<string, string>>): string | undefined {
  return Object.entries(names).find(([field]) => field in of)?.[1];
}
