import { apiVersionOf, type KindRef, type ObjectMeta, type Schema } from "@konverge/core";
import { copyJson } from "../structural/copy-json.ts";
import { applyDefaults } from "../structural/defaulting.ts";
import { crdVersion, objectSchema } from "./crd.ts";
import type { CrdObject } from "./crd-object.ts";
import type { NewMetadata, SpecInput, VersionDefinitions, VersionObject } from "./definition.ts";
import { DefinitionError } from "./definition-error.ts";
import { pluralOf } from "./plural.ts";

/** Everything there is to say about a kind, in one place. */
export interface KindDefinition<V extends VersionDefinitions, S extends keyof V & string> {
  readonly group: string;
  readonly kind: string;
  readonly versions: V;
  /** The version objects are stored in, and that `ObjectOf` speaks of. May be left out when there is only one. */
  readonly stored?: S;
  /** The resource's name; left out, it is made by {@link pluralOf}. */
  readonly plural?: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  /** Groups of kinds that `kubectl get` lists together, such as `all`. */
  readonly categories?: readonly string[];
  readonly scope?: "Namespaced" | "Cluster";
  /** Labels of the CRD itself. */
  readonly labels?: Record<string, string>;
}

/** A kind made by {@link defineKind}: a KindRef of its stored version, and all that follows from the definition. */
export interface Kind<V extends VersionDefinitions, S extends keyof V & string> extends KindRef<VersionObject<V[S]>> {
  /** The structural schema of the stored version. */
  readonly schema: Schema;
  /** A new object with defaults applied: `LLMModel.new("llama", { replicas: 3 })`. */
  readonly new: (metadata: NewMetadata, spec: SpecInput<V[S]>) => VersionObject<V[S]>;
  /** The CustomResourceDefinition. */
  crd(): CrdObject;
}

/** Makes a kind from its definition, or throws a DefinitionError naming the part that a CRD cannot express. */
export function defineKind<const V extends VersionDefinitions, S extends keyof V & string = keyof V & string>(
  definition: KindDefinition<V, S>,
): Kind<V, S> {
  const { group, kind, versions } = definition;
  const names = Object.keys(versions);
  const stored = definition.stored ?? (names.length === 1 ? names[0]! : undefined);
  if (stored === undefined)
    throw new DefinitionError(kind, `say which of the versions ${names.join(", ")} is \`stored\``);
  const plural = definition.plural ?? pluralOf(kind);
  const namespaced = (definition.scope ?? "Namespaced") === "Namespaced";
  const schemas = new Map(names.map((name) => [name, objectSchema(versions[name]!, `${kind} ${name}`)]));
  const schema = schemas.get(stored)!;

  return {
    group,
    version: stored,
    kind,
    plural,
    namespaced,
    schema,
    new: (metadata: NewMetadata, spec: unknown) =>
      applyDefaults(schema, {
        apiVersion: apiVersionOf({ group, version: stored }),
        kind,
        metadata: metadataOf(metadata),
        spec: copyJson(spec),
      }),
    crd: () => ({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.${group}`, ...(definition.labels && { labels: definition.labels }) },
      spec: {
        group,
        names: {
          kind,
          plural,
          singular: definition.singular ?? kind.toLowerCase(),
          listKind: `${kind}List`,
          ...(definition.shortNames?.length && { shortNames: [...definition.shortNames] }),
          ...(definition.categories?.length && { categories: [...definition.categories] }),
        },
        scope: namespaced ? "Namespaced" : "Cluster",
        versions: names.map((name) => crdVersion(name, versions[name]!, schemas.get(name)!, name === stored)),
      },
    }),
  } as unknown as Kind<V, S>;
}

function metadataOf(metadata: NewMetadata): ObjectMeta {
  return typeof metadata === "string" ? { name: metadata } : { ...metadata };
}
