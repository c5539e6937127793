import { type BuiltinResource, builtinResources, builtinSchema } from "@konverge/kinds";
import type { ResourceDefinition, ResourceVersion } from "./definition.ts";
import type { Registry } from "./registry.ts";
import { strategyOf } from "./strategies/index.ts";

/** Resources that two groups serve are stored once, under the group that came first. */
const SHARED_STORAGE: Record<string, string> = { "events.k8s.io/events": "/events" };

/** Puts every built-in resource of the facts into the registry. */
export function registerBuiltins(registry: Registry): void {
  const byName = Map.groupBy(builtinResources(), ({ group, plural }) => `${group}/${plural}`);
  for (const [name, versions] of byName) registry.set(definitionOf(name, versions));
}

function definitionOf(name: string, served: BuiltinResource[]): ResourceDefinition {
  const [first] = served as [BuiltinResource];
  const { group, plural, singular, namespaced, shortNames, categories } = first;
  return {
    group,
    plural,
    singular,
    namespaced,
    shortNames,
    categories,
    storageVersion: first.version,
    versions: new Map(served.map((resource) => [resource.version, versionOf(resource)])),
    strategy: strategyOf(group, first.kind),
    custom: false,
    storage: SHARED_STORAGE[name] ?? name,
    convert: (objects) => objects,
  };
}

function versionOf({ group, version, kind, verbs, subresources, columns }: BuiltinResource): ResourceVersion {
  return {
    version,
    kind,
    listKind: `${kind}List`,
    verbs,
    get schema() {
      return builtinSchema(group, version, kind);
    },
    subresources: new Map(subresources.map((subresource) => [subresource.name, subresource])),
    columns,
    selectableFields: [],
  };
}
