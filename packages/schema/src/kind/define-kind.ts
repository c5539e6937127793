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
import { converter } from "./conversion.ts";
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
import { checkInstalledZod } from "./zod-version.ts";

// Before the first schema is written: with another Zod, what is missing in it would fail first, with another message.
checkInstalledZod();

/** A kind made by {@link defineKind}: its stored version, and all that follows from the definition. */
export interface Kind<V extends VersionDefinitions, S extends keyof V & string>
  extends KindVersion<CustomObject<SpecOf<V[S]>, StatusOf<V[S]>>, WrittenObject<SpecInput<V[S]>>> {
  readonly definition: KindDefinition<V, S>;
  /** Another version: `client.list(TrainingJob.atVersion("v1beta1"))`. */
  readonly atVersion: <N extends keyof V & string>(
    name: N,
  ) => KindVersion<CustomObject<SpecOf<V[N]>, StatusOf<V[N]>>, WrittenObject<SpecInput<V[N]>>>;
  /** An object of any version as one of the version named, by way of the stored version. */
  readonly convert: <N extends keyof V & string>(
    object: AnyVersionObject<V>,
    to: N,
  ) => CustomObject<SpecOf<V[N]>, StatusOf<V[N]>>;
  /** The CustomResourceDefinition. */
  readonly crd: (options?: CrdOptions) => CustomResourceDefinition;
}

/** Any kind made by {@link defineKind}: for whoever installs or lists kinds and does not look into their objects. */
export interface AnyKind extends KindRef<KubeObject> {
  readonly schema: Schema;
  readonly crd: (options?: CrdOptions) => CustomResourceDefinition;
}

type AnyVersionObject<V extends VersionDefinitions> = {
  [N in keyof V]: CustomObject<SpecOf<V[N]>, StatusOf<V[N]>>;
}[keyof V];

/**
 * Makes a kind from its definition. What a CRD cannot express throws a DefinitionError that names the part.
 *
 *     export const LLMModel = defineKind({
 *       group: "ai.example.com", kind: "LLMModel",
 *       versions: { v1: { spec: z.object({ replicas: z.int().min(0).default(1) }) } },
 *     });
 *     export type LLMModel = ObjectOf<typeof LLMModel>;
 */
export function defineKind<const V extends VersionDefinitions, S extends keyof V & string = keyof V & string>(
  definition: KindDefinition<V, S>,
): Kind<V, S> {
  const { group, kind } = definition;
  const versions: VersionDefinitions = definition.versions;
  const names = namesOf(definition);
  const stored = storedVersion(definition);
  const namespaced = (definition.scope ?? "Namespaced") === "Namespaced";
  const members = new Map<string, KindVersion<AnyObject, never>>();
  const crdVersions = Object.keys(versions).map((name) => {
    const version = versions[name]!;
    const path = `${kind} ${name}`;
    const schema = objectSchema(version, path, definition.description);
    checkSchema(schema, path, version.status !== undefined);
    const scale = version.scale && scalePaths(version.scale);
    const facts = { group, version: name, kind, plural: names.plural, namespaced, schema, ...(scale && { scale }) };
    members.set(name, kindVersion(facts));
    return crdVersion(version, { name, schema, isStored: name === stored, path });
  });
  const hasFunctions = Object.keys(definition.conversion ?? {}).length > 0;

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

function storedVersion({ kind, versions, stored }: AnyDefinition): string {
  const names = Object.keys(versions);
  for (const name of names) {
    const [problem] = dns1035LabelErrors(name);
    if (problem) throw new DefinitionError(`${kind} versions.${name}`, problem);
  }
  if (names.length === 0) throw new DefinitionError(kind, "a kind needs at least one version");
  if (stored === undefined && names.length > 1) {
    throw new DefinitionError(kind, `say which of the versions ${names.join(", ")} is \`stored\``);
  }
  const name = stored ?? names[0]!;
  if (!names.includes(name)) throw new DefinitionError(`${kind} stored`, `there is no version ${name}`);
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
    if (problem) throw new DefinitionError(`${kind} ${part}`, problem);
  };
  for (const [part, text] of Object.entries(names)) check(part, text);
  for (const text of shortNames) check("shortNames", text);
  for (const text of categories) check("categories", text);
  const [problem] = dns1123SubdomainErrors(group);
  if (problem) throw new DefinitionError(`${kind} group`, problem);
  if (!group.includes("."))
    throw new DefinitionError(`${kind} group`, "must be a domain with at least one dot: ai.example.com");
  return {
    ...names,
    ...(shortNames.length > 0 && { shortNames: [...shortNames] }),
    ...(categories.length > 0 && { categories: [...categories] }),
  };
}

/** The last line of defence: whatever the API server would find in the schema, the definition's author finds first. */
function checkSchema(schema: Schema, path: string, hasStatus: boolean): void {
  const errors = structuralErrors(schema, { path: "schema", hasStatus });
  // A wrong default deep inside is also part of the defaults around it: the innermost is the one to mend.
  const [error] = errors.sort((a, b) => b.field.length - a.field.length);
  if (!error) return;
  const at = error.field
    .replace(/^schema\.?/, "")
    .replace(/properties\[([^\]]*)\]\.?/g, "$1.")
    .replace(/\.$/, "");
  throw new DefinitionError(`${path} ${at}`, `no API server would accept this: ${error.message}`);
}
