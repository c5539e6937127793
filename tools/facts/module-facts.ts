// What a server of a version publishes, without running one: k8s.io/kubernetes has the discovery and OpenAPI documents of a
// server with all its versions turned on.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { DiscoveredGroup, DiscoveredResource, OpenApiSchema, ServerFacts } from "./server-facts.ts";
import { shortName, withoutProse } from "./server-facts.ts";

/** By default, servers serve stable versions only. */
const STABLE = /^v\d+$/;

/** Of the folder of the module k8s.io/kubernetes. Columns are not published: they come from the Go types. */
export function readModuleFacts(folder: string): ServerFacts {
  const all = readJson<{ items: DiscoveredGroup[] }>(folder, "discovery", "aggregated_v2.json").items;
  const stable = all.map(({ metadata, versions }) => ({
    metadata,
    versions: versions.filter(({ version }) => STABLE.test(version)),
  }));
  const groups = [coreGroup(folder), ...stable.filter(({ versions }) => versions.length > 0)];
  const schemas = readSchemas(folder);
  const args = schemas["core.v1.Container"]?.properties?.["args"];
  return { groups, schemas, columns: {}, elementDefaults: args?.items?.default !== undefined };
}

interface ListedResource {
  name: string;
  singularName: string;
  namespaced: boolean;
  kind: string;
  group?: string;
  version?: string;
  verbs: string[];
  shortNames?: string[];
  categories?: string[];
}

/** The core group has only the older form of discovery, in which subresources are listed beside their resources. */
function coreGroup(folder: string): DiscoveredGroup {
  const listed = readJson<{ resources: ListedResource[] }>(folder, "discovery", "api__v1.json").resources;
  const resources = listed.filter(({ name }) => !name.includes("/")).map((one) => discovered(one, listed));
  return { metadata: {}, versions: [{ version: "v1", resources }] };
}

function discovered(one: ListedResource, all: readonly ListedResource[]): DiscoveredResource {
  const { name, singularName, namespaced, kind, verbs, shortNames, categories } = one;
  const subresources = all
    .filter((other) => other.name.startsWith(`${name}/`))
    .map((other) => ({
      subresource: other.name.slice(name.length + 1),
      responseKind: { group: other.group ?? "", version: other.version ?? "", kind: other.kind },
      verbs: other.verbs,
    }));
  return {
    resource: name,
    responseKind: { group: "", version: "", kind },
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singularName,
    verbs,
    ...(shortNames && { shortNames }),
    ...(categories && { categories }),
    ...(subresources.length > 0 && { subresources }),
  };
}

function readSchemas(folder: string): Record<string, OpenApiSchema> {
  const schemas: Record<string, OpenApiSchema> = {};
  for (const name of readdirSync(join(folder, "api", "openapi-spec", "v3")).sort()) {
    const document = /^(?:api__(?=v)|apis__[^_]+(?:__)?)(v[^_]+)?_openapi\.json$/.exec(name);
    if (!document || (document[1] !== undefined && !STABLE.test(document[1]))) continue;
    type Document = { components?: { schemas?: Record<string, OpenApiSchema> } };
    const { components } = readJson<Document>(folder, "openapi-spec", "v3", name);
    for (const [definition, schema] of Object.entries(components?.schemas ?? {})) {
      schemas[shortName(definition)] = withoutProse(schema);
    }
  }
  return schemas;
}

function readJson<T>(folder: string, ...path: string[]): T {
  return JSON.parse(readFileSync(join(folder, "api", ...path), "utf8")) as T;
}
