import type { KubeObject } from "@konverge/core";
import type { CustomResourceDefinition } from "@konverge/kinds";
import type { AnyKind } from "@konverge/schema";

/** The kinds that CustomResourceDefinitions define, each at its stored version. */
export function kindsOf(objects: readonly KubeObject[]): AnyKind[] {
  return objects.filter(isDefinition).map(kindOf);
}

/** Whether an object is a CustomResourceDefinition. */
export function isDefinition(object: KubeObject): object is CustomResourceDefinition {
  return object.kind === "CustomResourceDefinition" && String(object.apiVersion).startsWith("apiextensions.k8s.io/");
}

function kindOf(crd: CustomResourceDefinition): AnyKind {
  const { group, names, scope, versions } = crd.spec;
  const stored = versions.find(({ storage }) => storage) ?? versions[0]!;
  return {
    group,
    version: stored.name,
    kind: names.kind,
    plural: names.plural,
    namespaced: scope === "Namespaced",
    schema: (stored.schema?.openAPIV3Schema ?? {}) as AnyKind["schema"],
    crd: () => crd,
  };
}
