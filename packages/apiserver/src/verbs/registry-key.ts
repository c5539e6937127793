import type { ResourceDefinition } from "../resources/definition.ts";

/** Where a real API server keeps resources whose place in etcd is not just their name: some errors show it. */
const PLACES: Record<string, string> = {
  "/replicationcontrollers": "controllers",
  "/endpoints": "services/endpoints",
  "/nodes": "minions",
  "/services": "services/specs",
  "networking.k8s.io/ingresses": "ingress",
  "apiextensions.k8s.io/customresourcedefinitions": "apiextensions.k8s.io/customresourcedefinitions",
  "apiregistration.k8s.io/apiservices": "apiregistration.k8s.io/apiservices",
};

/**
 * The key of an object as errors of a real API server show it: `/registry/configmaps/default/a`. A dry run never gets to
 * the storage, which adds the prefix.
 */
export function registryKey(
  { storage, custom, plural }: ResourceDefinition,
  key: string,
  { dryRun }: { dryRun: boolean },
): string {
  return `${dryRun ? "" : "/registry"}/${PLACES[storage] ?? (custom ? storage : plural)}/${key}`;
}
