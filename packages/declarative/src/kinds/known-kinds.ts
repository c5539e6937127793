/** The kinds that graphs can be made of: Kubernetes' own, and those that CustomResourceDefinitions serve. */
import { apiVersionOf, type KindRef, type KubeObject, parseApiVersion, type Schema } from "@konverge/core";
import { builtinResources, builtinSchema, type CustomResourceDefinition } from "@konverge/kinds";
import type { AnyCrd } from "@konverge/schema";

/** A kind and what is known of its objects. */
export interface KnownKind {
  readonly ref: KindRef<KubeObject>;
  readonly schema: Schema;
  /** Which definition it has been read from; empty for Kubernetes' own kinds. */
  readonly revision: string;
}

/** Finds a kind by the `apiVersion` and `kind` of an object. */
export type KindLookup = (apiVersion: string, kind: string) => KnownKind | undefined;

const OBJECT_META = () => builtinSchema("", "v1", "ConfigMap").properties!["metadata"]!;

let builtin: ReadonlyMap<string, KnownKind> | undefined;

/** One of Kubernetes' own kinds. */
export const builtinKind: KindLookup = (apiVersion, kind) => {
  builtin ??= new Map(
    builtinResources().map(({ group, version, kind: name, plural, namespaced }) => {
      const ref = { group, version, kind: name, plural, namespaced };
      const known: KnownKind = {
        ref,
        get schema() {
          return builtinSchema(group, version, name);
        },
        revision: "",
      };
      return [`${apiVersionOf(ref)} ${name}`, known] as const;
    }),
  );
  return builtin.get(`${apiVersion} ${kind}`);
};

/** The kind that a definition serves in a version. */
export function servedKind(definition: CustomResourceDefinition | AnyCrd, apiVersion: string): KnownKind | undefined {
  const { group, version } = parseApiVersion(apiVersion);
  const { spec, metadata } = definition as CustomResourceDefinition;
  const served = spec?.versions?.find((one) => one.name === version && one.served);
  if (!spec || spec.group !== group || !served) return undefined;
  const { kind, plural } = spec.names!;
  return {
    ref: { group, version, kind: kind!, plural: plural!, namespaced: spec.scope === "Namespaced" },
    schema: objectSchema((served.schema?.openAPIV3Schema ?? {}) as Schema),
    revision: `${metadata.uid ?? ""}/${metadata.generation ?? ""}`,
  };
}

/** A lookup in a list of definitions, behind Kubernetes' own kinds. */
export function kindsOf(definitions: readonly (CustomResourceDefinition | AnyCrd)[]): KindLookup {
  return (apiVersion, kind) =>
    builtinKind(apiVersion, kind) ??
    definitions
      .filter((one) => (one as CustomResourceDefinition).spec?.names?.kind === kind)
      .map((one) => servedKind(one, apiVersion))
      .find((known) => known !== undefined);
}

/** The schema of whole objects: a definition says nothing about metadata, which all objects have. */
export function objectSchema(schema: Schema): Schema {
  const text: Schema = { type: "string" };
  const { properties = {}, ...rest } = schema;
  return {
    ...rest,
    type: "object",
    properties: { ...properties, apiVersion: text, kind: text, metadata: OBJECT_META() },
  };
}
