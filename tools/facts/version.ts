import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { downloadModule } from "@konverge/real/go-module.ts";
import type {
  DefinitionFact,
  DefinitionsFile,
  ResourceFact,
  ResourcesFile,
  VersionFile,
} from "../../packages/kinds/src/fact-types.ts";
import { fileOf } from "../../packages/kinds/src/type-name.ts";
import { disabledFields } from "./feature-gates.ts";
import type { GoFacts } from "./go-facts.ts";
import { GoSource } from "./go-source.ts";
import { mergeDefinitions } from "./merge.ts";
import { readModuleFacts } from "./module-facts.ts";
import { subresourceFact } from "./resources.ts";
import type { DiscoveredResource, ServerFacts } from "./server-facts.ts";
import { definitionChanges, groupChanges } from "./version-changes.ts";

const data = fileURLToPath(new URL("../../packages/kinds/data/", import.meta.url));

interface Base {
  resources: ResourcesFile;
  definitions: Record<string, DefinitionsFile>;
}

/**
 * How a version differs from the default one, whose facts are in `packages/kinds/data`: from the discovery and OpenAPI documents
 * of its module and the source of its types. Nothing is compiled or run. What neither has is taken from the default
 * version: defaults of fields that both have, columns of tables, and the fields that selectors can name.
 */
export function versionFacts(kubernetes: string): VersionFile {
  const base = readBase();
  const modules = moduleFolders(kubernetes);
  const server = readModuleFacts(modules.kubernetes);
  const definitions = filesOf(mergeDefinitions(server, goFacts(server, base, modules)));
  keepEnums(definitions, base);
  const files = [...new Set([...Object.keys(base.definitions), ...Object.keys(definitions)])].sort();
  const changes = Object.fromEntries(
    files.flatMap((file) => {
      const changed = definitionChanges(base.definitions[file] ?? {}, definitions[file] ?? {});
      return changed ? [[file, changed]] : [];
    }),
  );
  const added = files.filter((file) => !base.definitions[file]);
  return {
    kubernetes,
    base: base.resources.kubernetes,
    ...(server.elementDefaults === false && { elementDefaults: false as const }),
    ...(added.length > 0 && { added }),
    groups: groupChanges(base.resources.groups, groupsOf(server, base)),
    definitions: changes,
    disabled: disabledFields(kubernetes, modules),
  };
}

/** One definition a line, for diffs. */
export function versionText({ groups, definitions = {}, disabled, ...head }: VersionFile): string {
  const lines = (entries: readonly string[], open: string, close: string) =>
    entries.length === 0 ? `${open}${close}` : `${open}\n${entries.join(",\n")}\n${close}`;
  const named = (record: object) =>
    Object.entries(record).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  const files = Object.entries(definitions).map(
    ([file, changed]) => `${JSON.stringify(file)}:${lines(named(changed), "{", "}")}`,
  );
  const all = (groups ?? []).map((group) => JSON.stringify(group));
  return [
    JSON.stringify(head).slice(0, -1),
    `"groups":${lines(all, "[", "]")}`,
    `"definitions":${lines(files, "{", "}")}`,
    `"disabled":${lines(named(disabled), "{", "}")}}\n`,
  ].join(",\n");
}

function readBase(): Base {
  const names = readdirSync(data).filter(
    (name) => name.endsWith(".json") && !/^kubernetes-|^resources\.json$/.test(name),
  );
  const read = <T>(name: string) => JSON.parse(readFileSync(join(data, name), "utf8")) as T;
  const definitions = names.map((name) => [name.slice(0, -".json".length), read<DefinitionsFile>(name)] as const);
  return { resources: read<ResourcesFile>("resources.json"), definitions: Object.fromEntries(definitions) };
}

interface Modules {
  kubernetes: string;
  api: string;
  /** The folder of each package of types, by the file of their definitions. */
  packages: Record<string, string>;
}

function moduleFolders(kubernetes: string): Modules {
  const folder = mkdtempSync(join(tmpdir(), "konverge-modules-"));
  const published = `v${kubernetes.replace(/^1\./, "0.")}`;
  const download = (module: string, version = published) => downloadModule(folder, `k8s.io/${module}@${version}`).Dir;
  try {
    const api = download("api");
    const packages = globSync("*/v[0-9]*", { cwd: api }).map((path) => [path.split(sep).join("."), join(api, path)]);
    return {
      kubernetes: download("kubernetes", `v${kubernetes}`),
      api,
      packages: {
        ...(Object.fromEntries(packages) as Record<string, string>),
        "meta.v1": join(download("apimachinery"), "pkg", "apis", "meta", "v1"),
        "apiextensions.v1": join(download("apiextensions-apiserver"), "pkg", "apis", "apiextensions", "v1"),
        "apiregistration.v1": join(download("kube-aggregator"), "pkg", "apis", "apiregistration", "v1"),
      },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What the default version has and this one does, too, and what this one publishes. */
function goFacts(server: ServerFacts, base: Base, { packages }: Modules): GoFacts {
  const all = Object.entries(base.definitions).flatMap(([file, facts]) =>
    Object.entries(facts).map(([name, fact]): [string, DefinitionFact] => [`${file}.${name}`, fact]),
  );
  const custom = new Set(all.filter(([, fact]) => fact.custom).map(([name]) => name));
  const source = new GoSource(
    Object.fromEntries(Object.entries(packages).filter(([, folder]) => existsSync(folder))),
    custom,
  );
  const definitions: GoFacts["definitions"] = {};
  for (const name of new Set([...all.map(([known]) => known), ...Object.keys(server.schemas)])) {
    const found = source.definition(name);
    if (found) definitions[name] = found;
  }
  const defaults: GoFacts["defaults"] = {};
  for (const [name, { fields = {} }] of all) {
    for (const [field, [, , , extras]] of Object.entries(fields)) {
      if (extras?.serverDefault !== undefined)
        defaults[`${name}.${field}`] = [{ value: extras.serverDefault, count: 1 }];
    }
  }
  return { kinds: [], definitions, defaults };
}

/** The documents of the module have no enumerations: those of the default version are kept where the field is the same. */
function keepEnums(definitions: Record<string, DefinitionsFile>, base: Base): void {
  for (const [file, facts] of Object.entries(definitions)) {
    for (const [name, { fields = {} }] of Object.entries(facts)) {
      for (const [field, fact] of Object.entries(fields)) {
        const known = base.definitions[file]?.[name]?.fields?.[field];
        const values = known?.[3]?.enum;
        if (values && known[0] === fact[0]) fact[3] = { ...fact[3], enum: values };
      }
    }
  }
}

function groupsOf(server: ServerFacts, base: Base): ResourcesFile["groups"] {
  return server.groups.map(({ metadata, versions }) => {
    const group = metadata.name ?? "";
    const known = base.resources.groups.find((one) => one.group === group);
    return {
      group,
      versions: versions.map(({ version, resources }) => {
        const same = known?.versions.find((one) => one.version === version)?.resources ?? [];
        return {
          version,
          resources: resources.map((found) => {
            const fact = same.find(({ plural }) => plural === found.resource);
            return resourceFact(found, { group, version }, server, fact);
          }),
        };
      }),
    };
  });
}

/** A resource in the same form as in the data of the default version, with the parts that are only there. */
function resourceFact(
  found: DiscoveredResource,
  { group, version }: { group: string; version: string },
  server: ServerFacts,
  same: ResourceFact | undefined,
): ResourceFact {
  const { kind } = found.responseKind;
  const definition = same?.definition ?? definitionOf(group, version, kind, server);
  const own = { group, version, kind };
  const isListed = found.verbs.includes("list");
  const columns = same?.columns ?? (isListed ? PLAIN_COLUMNS : undefined);
  const selectable = same?.selectable ?? (isListed ? ["metadata.name", "metadata.namespace"] : undefined);
  return {
    plural: found.resource,
    singular: found.singularResource,
    kind,
    namespaced: found.scope === "Namespaced",
    verbs: found.verbs,
    ...(found.shortNames && { shortNames: found.shortNames }),
    ...(found.categories && { categories: found.categories }),
    ...(found.subresources && { subresources: found.subresources.map((one) => subresourceFact(one, own)) }),
    definition,
    ...(columns && { columns }),
    ...(selectable && { selectable }),
    ...(same?.pathDefaults && { pathDefaults: same.pathDefaults }),
    ...(same?.computedDefaults && { computedDefaults: same.computedDefaults }),
  };
}

function definitionOf(group: string, version: string, kind: string, server: ServerFacts): string {
  const found = Object.entries(server.schemas).find(([, schema]) =>
    schema["x-kubernetes-group-version-kind"]?.some(
      (one) => one.group === group && one.version === version && one.kind === kind,
    ),
  );
  if (!found) throw new Error(`${group}/${version} ${kind} is served, but its schema is not published`);
  return found[0];
}

/** The columns of a kind that has none itself. */
const PLAIN_COLUMNS: NonNullable<ResourceFact["columns"]> = [
  { name: "Name", type: "string", format: "name", priority: 0 },
  { name: "Created At", type: "date", priority: 0 },
];

function filesOf(definitions: ReturnType<typeof mergeDefinitions>): Record<string, DefinitionsFile> {
  const files: Record<string, DefinitionsFile> = {};
  for (const [name, fact] of Object.entries(definitions)) {
    const file = fileOf(name);
    files[file] ??= {};
    files[file][name.slice(file.length + 1)] = fact;
  }
  return files;
}
