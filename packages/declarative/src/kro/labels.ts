import { type KubeObject, parseApiVersion } from "@konverge/core";

/** Says of which resource of its graph an object is. */
export const NODE_LABEL = "kro.run/node-id";
/** The place of an object in its collection. */
export const INDEX_LABEL = "kro.run/collection-index";
const SIZE_LABEL = "kro.run/collection-size";

/** What every object of an instance has, as kro writes it. */
export function nodeLabels(id: string, instance: KubeObject): Record<string, string> {
  const { name, namespace, uid } = instance.metadata;
  const { group, version } = parseApiVersion(instance.apiVersion);
  return {
    "app.kubernetes.io/managed-by": "kro",
    "kro.run/owned": "true",
    [NODE_LABEL]: id,
    "kro.run/instance-id": uid!,
    "kro.run/instance-name": name!,
    ...(namespace && { "kro.run/instance-namespace": namespace }),
    "kro.run/instance-group": group,
    "kro.run/instance-version": version,
    "kro.run/instance-kind": instance.kind,
  };
}

/** What an object of a collection has besides. */
export const itemLabels = (index: number, size: number): Record<string, string> => ({
  [INDEX_LABEL]: `${index}`,
  [SIZE_LABEL]: `${size}`,
});
