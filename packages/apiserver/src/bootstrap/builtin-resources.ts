import { apiVersionOf, type Schema } from "@konverge/core";
import { type BuiltinResource, builtinSchema, type KubernetesFacts } from "@konverge/kinds";
import type { Codec } from "../codec/codec.ts";
import { typedCodec } from "../codec/typed.ts";
import { crdStrategy } from "../crd/strategy.ts";
import type { ResourceDefinition, ResourceVersion } from "../resources/definition.ts";
import { withoutDisabledFields } from "../resources/disabled-fields.ts";
import type { Registry } from "../resources/registry.ts";
import { conversionOf, strategyOf } from "../resources/strategies/strategies.ts";

/** Resources that two groups serve are stored once, as objects of the group that came first. */
const SHARED_STORAGE: Record<string, { storage: string; storedAs: string }> = {
  "events.k8s.io/events": { storage: "/events", storedAs: "v1" },
};

/** The warnings for clients that use deprecated kinds. */
const DEPRECATIONS: Record<string, string> = {
  "v1/ComponentStatus": "v1 ComponentStatus is deprecated in v1.19+",
  "v1/Endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
};

/** Puts every built-in resource of the facts into the registry. */
export function registerBuiltins(registry: Registry): void {
  const { facts } = registry;
  const byName = Map.groupBy(facts.resources(), ({ group, plural }) => `${group}/${plural}`);
  for (const [name, versions] of byName) registry.set(definitionOf(name, versions, facts));
  for (const [name, { storage }] of Object.entries(SHARED_STORAGE)) {
    const [group, plural] = name.split("/") as [string, string];
    const [storedGroup, storedPlural] = storage.split("/") as [string, string];
    const { storageCodec } = registry.get(storedGroup, storedPlural)!;
    registry.set({ ...registry.get(group, plural)!, storageCodec });
  }
}

function definitionOf(name: string, served: BuiltinResource[], facts: KubernetesFacts): ResourceDefinition {
  const [first] = served as [BuiltinResource];
  const { group, plural, singular, namespaced, shortNames, categories } = first;
  const versions = new Map(served.map((resource) => [resource.version, versionOf(resource, facts)]));
  const shared = SHARED_STORAGE[name];
  return {
    group,
    plural,
    singular,
    namespaced,
    shortNames,
    categories,
    storageVersion: first.version,
    storedAs: shared?.storedAs ?? apiVersionOf(first),
    storageCodec: versions.get(first.version)!.codec,
    versions,
    strategy: withoutDisabledFields(
      first.kind === "CustomResourceDefinition" ? crdStrategy : strategyOf(group, first.kind),
      first.definition,
      facts,
    ),
    custom: false,
    storage: shared?.storage ?? name,
    convert: conversionOf(group, first.kind),
  };
}

/** The codec of a built-in kind, which fills in first what depends on a field not being there. */
function codecOf(resource: BuiltinResource, schema: () => Schema, facts: KubernetesFacts): Codec {
  const codec = typedCodec(resource.definition, resource, schema, facts);
  const { presets } = strategyOf(resource.group, resource.kind);
  if (!presets) return codec;
  const { applyDefaults } = codec;
  codec.applyDefaults = (object) => {
    presets(object);
    applyDefaults(object);
  };
  return codec;
}

function versionOf(resource: BuiltinResource, facts: KubernetesFacts): ResourceVersion {
  const { group, version, kind, verbs, subresources, columns, selectableFields } = resource;
  const schema = () => builtinSchema(group, version, kind, facts);
  const deprecation = DEPRECATIONS[`${apiVersionOf(resource)}/${kind}`];
  return {
    version,
    kind,
    listKind: `${kind}List`,
    verbs,
    get schema() {
      return schema();
    },
    codec: codecOf(resource, schema, facts),
    subresources: new Map(subresources.map((subresource) => [subresource.name, subresource])),
    columns,
    selectableFields,
    ...(deprecation && { deprecation }),
  };
}
