import type { ColumnFact, ResourceFact, ResourcesFile, SubresourceFact } from "../../packages/kinds/src/fact-types.ts";
import { elementName } from "../../packages/kinds/src/type-name.ts";
import { type GoFacts, type GoKind, plainDefault } from "./go-facts.ts";
import type { Column, DiscoveredResource, ServerFacts } from "./server-facts.ts";

export type Groups = ResourcesFile["groups"];

/** Discovery, columns, selectable fields and the defaults that belong to one kind, in the order of discovery. */
export function mergeResources(server: ServerFacts, go: GoFacts): Groups {
  return server.groups.map(({ metadata, versions }) => {
    const group = metadata.name ?? "";
    return {
      group,
      versions: versions.map(({ version, resources }) => ({
        version,
        resources: resources.map((resource) => {
          const kind = go.kinds.find(
            (one) => one.group === group && one.version === version && one.kind === resource.responseKind.kind,
          );
          if (!kind) throw new Error(`no Go type for ${group}/${version} ${resource.responseKind.kind}`);
          return resourceFact(resource, kind, server.columns[`${group}/${version}/${resource.resource}`], go);
        }),
      })),
    };
  });
}

function resourceFact(
  found: DiscoveredResource,
  kind: GoKind,
  columns: Column[] | undefined,
  go: GoFacts,
): ResourceFact {
  const { pathDefaults, computedDefaults } = ownDefaults(kind, go);
  return {
    plural: found.resource,
    singular: found.singularResource,
    kind: found.responseKind.kind,
    namespaced: found.scope === "Namespaced",
    verbs: found.verbs,
    ...(found.shortNames && { shortNames: found.shortNames }),
    ...(found.categories && { categories: found.categories }),
    ...(found.subresources && { subresources: found.subresources.map((one) => subresourceFact(one, kind)) }),
    definition: kind.definition,
    ...(columns && { columns: columns.map(columnFact) }),
    ...(found.verbs.includes("list") && kind.selectable && { selectable: kind.selectable }),
    ...(Object.keys(pathDefaults).length > 0 && { pathDefaults }),
    ...(computedDefaults.length > 0 && { computedDefaults }),
  };
}

export function subresourceFact(
  found: NonNullable<DiscoveredResource["subresources"]>[number],
  own: Pick<GoKind, "group" | "version" | "kind">,
): SubresourceFact {
  const { group, version, kind } = found.responseKind;
  const sameKind = kind === own.kind && version === "";
  return {
    name: found.subresource,
    verbs: found.verbs,
    // An empty version stands for the group-version that is being described.
    ...(!sameKind && { group: version === "" ? own.group : group, version: version || own.version, kind }),
  };
}

function columnFact({ name, type, format, priority }: Column): ColumnFact {
  return { name, type, ...(format && { format }), priority };
}

/** What remains when the defaults that hold for a definition wherever it is used are taken away. */
function ownDefaults(kind: GoKind, go: GoFacts) {
  const pathDefaults: Record<string, unknown> = {};
  const computedDefaults: string[] = [];
  for (const path of Object.keys(kind.defaults ?? {}).sort()) {
    const outcomes = kind.defaults?.[path];
    if (plainDefault(go.defaults[fieldAt(kind.definition, path, go)])) continue;
    const plain = plainDefault(outcomes);
    if (plain) pathDefaults[path] = plain.value;
    else computedDefaults.push(path);
  }
  return { pathDefaults, computedDefaults };
}

/** `core.v1.Container.image` for `spec.containers[].image` of a Pod. */
function fieldAt(root: string, path: string, go: GoFacts): string {
  let owner = root;
  const names = path.replaceAll(/\[\]|\{\}/g, "").split(".");
  for (const name of names.slice(0, -1)) {
    const field = go.definitions[owner]?.fields?.find((one) => one.name === name);
    if (!field) throw new Error(`no field ${name} in ${owner}`);
    owner = elementName(field.type);
  }
  return `${owner}.${names.at(-1)}`;
}
