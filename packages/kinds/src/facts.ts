import { dataFile } from "./data-file.ts";
import type { DefinitionFact, DefinitionsFile, ResourceFact, ResourcesFile, VersionFile } from "./fact-types.ts";
import { fileOf } from "./type-name.ts";
import { changedDefinitions, changedGroups } from "./version-delta.ts";

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

/**
 * What one Kubernetes version knows of its kinds. All versions but the {@link kubernetesVersion default} are small files
 * of differences from it, which are read when one of them is asked about for the first time.
 */
export class KubernetesFacts {
  readonly #base: KubernetesFacts | undefined;
  readonly #delta: VersionFile;
  readonly #definitions = new Map<string, DefinitionsFile>();
  #file: ResourcesFile | undefined;
  #resources: readonly BuiltinResource[] | undefined;
  #disabled: Map<string, ReadonlyMap<string, string>> | undefined;

  constructor(delta: VersionFile, base?: KubernetesFacts) {
    this.#delta = delta;
    this.#base = base;
  }

  /** The release: `1.36.3`. */
  get version(): string {
    return this.#delta.kubernetes;
  }

  /** Whether OpenAPI has defaults for the elements of lists and maps. */
  get elementDefaults(): boolean {
    return this.#delta.elementDefaults ?? true;
  }

  /** Every resource; preferred groups and versions first. */
  resources(): readonly BuiltinResource[] {
    this.#resources ??= this.#resourcesFile().groups.flatMap(({ group, versions }) =>
      versions.flatMap(({ version, resources }) => resources.map((fact) => resourceOf(group, version, fact))),
    );
    return this.#resources;
  }

  /** The facts of a definition such as `apps.v1.DeploymentSpec`, or undefined when there is none. */
  definition(name: string): DefinitionFact | undefined {
    const file = fileOf(name);
    // Kinds come from requests: one with a dot or a slash in it must not name another file.
    if (!/^[a-z]+(\.v[0-9a-z]+)?$/.test(file)) return undefined;
    const definitions = this.#definitionsIn(file);
    const own = name.slice(file.length + 1);
    return Object.hasOwn(definitions, own) ? definitions[own] : undefined;
  }

  /** Names of all definitions of a group-version, such as `apps.v1`. */
  definitionNames(file: string): string[] {
    return Object.keys(this.#definitionsIn(file)).map((name) => `${file}.${name}`);
  }

  /** Defaults that hold at paths of one kind only. */
  pathDefaults(group: string, version: string, kind: string): Record<string, unknown> {
    const found = this.#resourcesFile()
      .groups.find((one) => one.group === group)
      ?.versions.find((one) => one.version === version)
      ?.resources.find((one) => one.kind === kind);
    return found?.pathDefaults ?? {};
  }

  /** The name of a kind's definition: also of kinds that are no resource, such as Scale or DeploymentList. */
  definitionOf(group: string, version: string, kind: string): string {
    const sibling = this.resources().find((one) => one.group === group && one.version === version);
    const files = sibling ? [fileOf(sibling.definition), "meta.v1"] : ["meta.v1"];
    const name = files.map((file) => `${file}.${kind}`).find((candidate) => this.definition(candidate));
    if (!name)
      throw new Error(`${kind} of ${group || "core"}/${version} is not a built-in kind of Kubernetes ${this.version}`);
    return name;
  }

  /** The fields of a definition that a server does not store because their feature gate is off, each with its gate. */
  disabledFields(definition: string): ReadonlyMap<string, string> {
    if (!this.#disabled) {
      this.#disabled = new Map();
      for (const [path, gate] of Object.entries(this.#delta.disabled)) {
        const at = path.lastIndexOf(".");
        const fields = this.#disabled.get(path.slice(0, at)) ?? new Map<string, string>();
        this.#disabled.set(path.slice(0, at), new Map(fields).set(path.slice(at + 1), gate));
      }
    }
    return this.#disabled.get(definition) ?? NONE;
  }

  #definitionsIn(file: string): DefinitionsFile {
    let definitions = this.#definitions.get(file);
    if (!definitions) {
      definitions = changedDefinitions(this.#sameDefinitions(file), this.#delta.definitions?.[file]);
      this.#definitions.set(file, definitions);
    }
    return definitions;
  }

  #sameDefinitions(file: string): DefinitionsFile {
    if (this.#delta.added?.includes(file)) return {};
    return this.#base ? this.#base.#definitionsIn(file) : (read(`${file}.json`) as DefinitionsFile);
  }

  #resourcesFile(): ResourcesFile {
    this.#file ??= this.#base
      ? { kubernetes: this.version, groups: changedGroups(this.#base.#resourcesFile().groups, this.#delta.groups) }
      : (read("resources.json") as ResourcesFile);
    return this.#file;
  }
}

const NONE: ReadonlyMap<string, string> = new Map();

/** The minor version whose facts are whole; the others are differences from them. */
const DEFAULT_MINOR = "1.36";

/** The minor versions that the embedded server can serve, oldest first. */
export const KUBERNETES_MINORS = ["1.33", "1.34", "1.35", "1.36", "1.37"] as const;

const loaded = new Map<string, KubernetesFacts>();

/**
 * The facts of a minor version: `1.34`, `v1.34` or a release of it, such as `1.34.0`; by default those of the default version.
 * Throws for a version that is not known.
 */
export function kubernetesFacts(version: string = DEFAULT_MINOR): KubernetesFacts {
  const minor = /^v?(1\.\d+)(\.\d+)?$/.exec(version)?.[1] ?? version;
  if (!(KUBERNETES_MINORS as readonly string[]).includes(minor)) {
    throw new Error(`Kubernetes ${version} is not served: choose one of ${KUBERNETES_MINORS.join(", ")}`);
  }
  let facts = loaded.get(minor);
  if (!facts) {
    const delta = read(`kubernetes-${minor}.json`) as VersionFile;
    facts = new KubernetesFacts(delta, minor === DEFAULT_MINOR ? undefined : kubernetesFacts());
    loaded.set(minor, facts);
  }
  return facts;
}

/** Every built-in resource of the default Kubernetes version; preferred groups and versions first. */
export function builtinResources(): readonly BuiltinResource[] {
  return kubernetesFacts().resources();
}

/** The default Kubernetes version, whose types the built-in kinds have: `1.36.3`. */
export function kubernetesVersion(): string {
  return kubernetesFacts().version;
}

/** The facts of a definition such as `apps.v1.DeploymentSpec`, or undefined when there is none. */
export function definition(name: string): DefinitionFact | undefined {
  return kubernetesFacts().definition(name);
}

/** Names of all definitions of a group-version, such as `apps.v1`. */
export function definitionNames(file: string): string[] {
  return kubernetesFacts().definitionNames(file);
}

/** The name of a kind's definition: also of kinds that are no resource, such as Scale or DeploymentList. */
export function definitionOf(group: string, version: string, kind: string): string {
  return kubernetesFacts().definitionOf(group, version, kind);
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
