import type { CustomResourceDefinition } from "@konverge/kinds";

type Versions = CustomResourceDefinition["spec"]["versions"];

/** Versions of which only the stored one is served. */
export const onlyStored = (versions: Versions): Versions =>
  versions.map((one) => (one.storage ? one : { ...one, served: false }));

/**
 * A kind of which only the stored version is served, so that no conversion is needed. Served, the others would give an
 * error in place of objects: kubectl asks for the newest.
 */
export function storedOnly(crd: CustomResourceDefinition): CustomResourceDefinition {
  const { conversion: _, versions, ...spec } = crd.spec;
  return { ...crd, spec: { ...spec, versions: onlyStored(versions) } };
}
