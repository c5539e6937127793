import { dataFile } from "./data-file.ts";
import type { DefinitionFact, DefinitionsFile, ResourceFact, ResourcesFile } from "./fact-types.ts";
import { fileOf } from "./type-name.ts";

/** A built-in resource in one of its served versions. */
export interface BuiltinResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly BuiltinSubresource[];
  /** The columns of a table of its objects. */
  readonly columns: readonly BuiltinColumn[];
  /** The fields that field selectors can use. */
  readonly selectableFields: readonly string[];
  /** Name of the definition of its objects, see {@link definition}. */
  readonly definition: string;
  /** Paths whose default the server derives from other fields. All other defaults are in the schema. */
  readonly computedDefaults: readonly string[];
}

export interface BuiltinSubresource {
  readonly name: string;
  readonly verbs: readonly string[];
  /** The kind of its requests and responses. */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
}

export interface BuiltinColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly priority: number;
}

let loadedResources: ResourcesFile | undefined;
let allResources: readonly BuiltinResource[] | undefined;
const loadedDefinitions = new Map<string, DefinitionsFile>();

/** Every built-in resource of the supported Kubernetes version; preferred groups and versions first. */
export function builtinResources(): readonly BuiltinResource[] {
  allResources ??= resourcesFile().groups.flatMap(({ group, versions }) =>
    versions.flatMap(({ version, resources }) => resources.map((fact) => resourceOf(group, version, fact))),
  );
  return allResources;
}

/** The Kubernetes version of the built-in kinds: `1.36.3`. */
export function kubernetesVersion(): string {
  return resourcesFile().kubernetes;
}

/** The facts of a definition such as `apps.v1.DeploymentSpec`, or undefined when there is none. */
export function definition(name: string): DefinitionFact | undefined {
  const file = fileOf(name);
  // Kinds come from requests: one with a dot or a slash in it must not name another file.
  if (!/^[a-z]+(\.v[0-9a-z]+)?$/.test(file)) return undefined;
  const definitions = definitionsIn(file);
  const own = name.slice(file.length + 1);
  return Object.hasOwn(definitions, own) ? definitions[own] : undefined;
}

/** Names of all definitions of a group-version, such as `apps.v1`. */
export function definitionNames(file: string): string[] {
  return Object.keys(definitionsIn(file)).map((name) => `${file}.${name}`);
}

/** Defaults that hold at paths of one kind only. */
export function pathDefaults(group: string, version: string, kind: string): Record<string, unknown> {
  const found = resourcesFile()
    .groups.find((one) => one.group === group)
    ?.versions.find((one) => one.version === version)
    ?.resources.find((one) => one.kind === kind);
  return found?.pathDefaults ?? {};
}

/** The name of a kind's definition: also of kinds that are no resource, such as Scale or DeploymentList. */
export function definitionOf(group: string, version: string, kind: string): string {
  const sibling = builtinResources().find((one) => one.group === group && one.version === version);
  const files = sibling ? [fileOf(sibling.definition), "meta.v1"] : ["meta.v1"];
  const name = files.map((file) => `${file}.${kind}`).find((candidate) => definition(candidate));
  if (!name)
    throw new Error(
      `${kind} of ${group || "core"}/${version} is not a built-in kind of Kubernetes ${kubernetesVersion()}`,
    );
  return name;
}

function definitionsIn(file: string): DefinitionsFile {
  let definitions = loadedDefinitions.get(file);
  if (!definitions) {
    definitions = read(`${file}.json`) as DefinitionsFile;
    loadedDefinitions.set(file, definitions);
  }
  return definitions;
}

function resourcesFile(): ResourcesFile {
  loadedResources ??= read("resources.json") as ResourcesFile;
  return loadedResources;
}

function read(name: string): unknown {
  return JSON.parse(dataFile(name));
}

function resourceOf(group: string, version: string, fact: ResourceFact): BuiltinResource {
  const { kind, plural, singular, namespaced, verbs } = fact;
  return {
    group,
    version,
    kind,
    plural,
    singular,
    namespaced,
    verbs,
    shortNames: fact.shortNames ?? [],
    categories: fact.categories ?? [],
    subresources: (fact.subresources ?? []).map((one) => ({
      name: one.name,
      verbs: one.verbs,
      kind: { group: one.group ?? group, version: one.version ?? version, kind: one.kind ?? kind },
    })),
    columns: (fact.columns ?? []).map((column) => ({ ...column, format: column.format ?? "" })),
    selectableFields: fact.selectable ?? [],
    definition: fact.definition,
    computedDefaults: fact.computedDefaults ?? [],
  };
}
