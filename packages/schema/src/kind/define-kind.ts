import {
  type AnyObject,
  deepCopy,
  dns1035LabelErrors,
  dns1123SubdomainErrors,
  type KindRef,
  type KubeObject,
  type Schema,
} from "@konverge/core";
import type { CustomResourceDefinition } from "@konverge/kinds";
import { structuralErrors } from "../validation/structural-errors.ts";
import type { CheckedPaths } from "./checked-paths.ts";
import { checkConvertible, converter } from "./conversion.ts";
import { type CrdOptions, crdConversion, crdVersion, scalePaths } from "./crd.ts";
import type { CrdNames, CrdObject } from "./crd-object.ts";
import type {
  CustomObject,
  KindDefinition,
  SpecInput,
  SpecOf,
  StatusOf,
  VersionDefinitions,
  WrittenObject,
} from "./definition.ts";
import { DefinitionError } from "./definition-error.ts";
import { type KindVersion, kindVersion } from "./kind-version.ts";
import { objectSchema } from "./object-schema.ts";
import { pluralOf } from "./plural.ts";

/** A kind made by {@link defineKind}: its stored version, and everything that is derived from the definition. */
export interface Kind<V extends VersionDefinitions, S extends keyof V & string>
  extends KindVersion<CustomObject<SpecOf<V[S]>, StatusOf<V[S]>>, WrittenObject<SpecInput<V[S]>>> {
  readonly definition: KindDefinition<V, S>;
  /** Another version: `client.list(TrainingJob.atVersion("v1beta1"))`. */
  readonly atVersion: <N extends keyof V & string>(
    name: N,
  ) => KindVersion<CustomObject<SpecOf<V[N]>, StatusOf<V[N]>>, WrittenObject<SpecInput<V[N]>>>;
  /** Converts an object of any version to another version, by way of the stored version. */
  readonly convert: <N extends keyof V & string>(
    object: AnyVersionObject<V>,
    to: N,
  ) => CustomObject<SpecOf<V[N]>, StatusOf<V[N]>>;
  /** The CustomResourceDefinition. */
  readonly crd: (options?: CrdOptions) => CustomResourceDefinition;
}

/** Any kind made by {@link defineKind}: for code that installs or lists kinds and does not read their objects. */
export interface AnyKind extends KindRef<KubeObject> {
  readonly schema: Schema;
  /** What it was made from, if that is a definition and not a CRD. */
  readonly definition?: { readonly conversion?: object | undefined };
  readonly convert?: (object: never, to: never) => object;
  readonly crd: (options?: CrdOptions) => CustomResourceDefinition;
}

/** Whether the definition has functions that convert between versions: the CRD then needs a conversion webhook. */
export function hasConversion<K extends Pick<AnyKind, "definition" | "convert">>(
  kind: K,
): kind is K & Required<Pick<AnyKind, "convert">> {
  return Object.keys(kind.definition?.conversion ?? {}).length > 0;
}

type AnyVersionObject<V extends VersionDefinitions> = {
  [N in keyof V]: CustomObject<SpecOf<V[N]>, StatusOf<V[N]>>;
}[keyof V];

/**
 * Creates a kind from its definition. Throws a DefinitionError that names the field if a CRD cannot express it.
 *
 *     export const LLMModel = defineKind({
 *       group: "ai.example.com", kind: "LLMModel",
 *       versions: { v1: { spec: z.object({ replicas: z.int().min(0).default(1) }) } },
 *     });
 *     export type LLMModel = ObjectOf<typeof LLMModel>;
 */
export function defineKind<const V extends VersionDefinitions, S extends keyof V & string = keyof V & string>(
  definition: KindDefinition<V, S> & CheckedPaths<NoInfer<V>>,
): Kind<V, S> {
  const { group, kind } = definition;
  const versions: VersionDefinitions = definition.versions;
  const place = `defineKind(${JSON.stringify(kind)})`;
  const [names, stored] = DefinitionError.at(place, () => [namesOf(definition), storedVersion(definition)] as const);
  const namespaced = (definition.scope ?? "Namespaced") === "Namespaced";
  const members = new Map<string, KindVersion<AnyObject, never>>();
  const crdVersions = Object.entries(versions).map(([name, version]) =>
    DefinitionError.at(`${place} at ${name}`, () => {
      const schema = objectSchema(version, definition.description);
      checkSchema(schema, version.status !== undefined);
      const scale = version.scale && scalePaths(version.scale);
      const facts = { group, version: name, kind, plural: names.plural, namespaced, schema, ...(scale && { scale }) };
      members.set(name, kindVersion(facts));
      return crdVersion(version, { name, schema, isStored: name === stored });
    }),
  );
  DefinitionError.at(place, () => checkConvertible(crdVersions, definition.conversion ?? {}));
  const hasFunctions = hasConversion({ definition });

  const result = {
    ...members.get(stored)!,
    definition,
    atVersion(name: string) {
      const member = members.get(name);
      if (!member) throw new Error(`${kind} has no version ${name}: only ${[...members.keys()].join(", ")}`);
      return member;
    },
    convert: converter(members, stored, definition.conversion ?? {}),
    crd: (options: CrdOptions = {}): CrdObject => {
      const conversion = crdConversion(hasFunctions, kind, options);
      return {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: {
          name: `${names.plural}.${group}`,
          ...(definition.labels && { labels: { ...definition.labels } }),
          ...(definition.annotations && { annotations: { ...definition.annotations } }),
        },
        spec: {
          group,
          names,
          scope: namespaced ? "Namespaced" : "Cluster",
          versions: deepCopy(crdVersions),
          ...(conversion && { conversion }),
        },
      };
    },
  };
  return result as unknown as Kind<V, S>;
}

type AnyDefinition = Omit<KindDefinition<VersionDefinitions, string>, "conversion">;

function storedVersion({ versions, stored }: AnyDefinition): string {
  const names = Object.keys(versions);
  for (const name of names) {
    const [problem] = dns1035LabelErrors(name);
    if (problem) throw new DefinitionError(`versions.${name}`, problem);
  }
  if (names.length === 0) throw new DefinitionError("versions", "a kind needs at least one version");
  if (stored === undefined && names.length > 1) {
    throw new DefinitionError("stored", `say which of the versions ${names.join(", ")} is \`stored\``);
  }
  const name = stored ?? names[0]!;
  if (!names.includes(name)) throw new DefinitionError("stored", `there is no version ${name}`);
  return name;
}

function namesOf(definition: AnyDefinition): CrdNames {
  const { group, kind, shortNames = [], categories = [] } = definition;
  const names = {
    kind,
    plural: definition.plural ?? pluralOf(kind),
    singular: definition.singular ?? kind.toLowerCase(),
    listKind: definition.listKind ?? `${kind}List`,
  };
  const check = (part: string, text: string) => {
    const [problem] = dns1035LabelErrors(text.toLowerCase());
    if (problem) throw new DefinitionError(part, problem);
  };
  for (const [part, text] of Object.entries(names)) check(part, text);
  for (const text of shortNames) check("shortNames", text);
  for (const text of categories) check("categories", text);
  const [problem] = dns1123SubdomainErrors(group);
  if (problem) throw new DefinitionError("group", problem);
  if (!group.includes("."))
    throw new DefinitionError("group", "must be a domain with at least one dot: ai.example.com");
  return {
    ...names,
    ...(shortNames.length > 0 && { shortNames: [...shortNames] }),
    ...(categories.length > 0 && { categories: [...categories] }),
  };
}

/** What the API server would reject in the schema, the definition's author finds first. */
function checkSchema(schema: Schema, hasStatus: boolean): void {
  const errors = structuralErrors(schema, { path: "schema", hasStatus });
  // An invalid default deep inside is also part of the defaults around it: the innermost is the one to correct.
  const [error] = errors.sort((a, b) => b.field.length - a.field.length);
  if (!error) return;
  const at = error.field
    .replace(/^schema\.?/, "")
    .replace(/\.items(?=\.|$)/g, "[]")
    .replace(/\.additionalProperties(?=\.|$)/g, ".*")
    .replace(/(^|\.)properties\[([^\]]*)\]/g, "$1$2");
  const [, field, inner] = /^(.*?)\.default(\..*)?$/.exec(at) ?? [];
  if (field === undefined || error.reason === "FieldValueRequired")
    throw new DefinitionError(at, `the API server would reject this: ${error.message}`);
  const problem = error.message
    .replace(/^Unsupported value: (.*): supported values: /s, "$1 is not one of the enum values ")
    .replace(/^Invalid value: (.*?):(?: \S*)? in body /s, "$1 ")
    .replace(/^Invalid value: /, "");
  throw new DefinitionError(field, `default${inner ?? ""} ${problem}`);
}
