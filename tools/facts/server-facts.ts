import { type RealCluster, startRealCluster } from "@konverge/real";
import { call } from "@konverge/real/api.ts";

/** A schema of the server's OpenAPI document, as far as it is used here. */
export interface OpenApiSchema {
  type?: string;
  format?: string;
  default?: unknown;
  enum?: string[];
  required?: string[];
  properties?: Record<string, OpenApiSchema>;
  items?: OpenApiSchema;
  additionalProperties?: OpenApiSchema;
  allOf?: OpenApiSchema[];
  oneOf?: OpenApiSchema[];
  $ref?: string;
  "x-kubernetes-list-type"?: string;
  "x-kubernetes-list-map-keys"?: string[];
  "x-kubernetes-map-type"?: string;
  "x-kubernetes-patch-strategy"?: string;
  "x-kubernetes-patch-merge-key"?: string;
  "x-kubernetes-unions"?: unknown[];
  "x-kubernetes-group-version-kind"?: { group: string; version: string; kind: string }[];
}

interface ResponseKind {
  group: string;
  version: string;
  kind: string;
}

export interface DiscoveredResource {
  resource: string;
  responseKind: ResponseKind;
  scope: "Namespaced" | "Cluster";
  singularResource: string;
  verbs: string[];
  shortNames?: string[];
  categories?: string[];
  subresources?: { subresource: string; responseKind: ResponseKind; verbs: string[] }[];
}

export interface DiscoveredGroup {
  metadata: { name?: string };
  versions: { version: string; resources: DiscoveredResource[] }[];
}

export interface Column {
  name: string;
  type: string;
  format: string;
  priority: number;
}

/** What a server publishes about its built-in kinds. */
export interface ServerFacts {
  /** Whether the elements of lists and maps have defaults. Default: yes. */
  elementDefaults?: boolean;
  /** In the order of discovery: preferred groups and versions first. */
  groups: DiscoveredGroup[];
  /** By short name, see {@link shortName}; without descriptions. */
  schemas: Record<string, OpenApiSchema>;
  /** By `group/version/plural`, for everything that can be listed. */
  columns: Record<string, Column[]>;
}

export async function readServerFacts(): Promise<ServerFacts> {
  await using cluster = await startRealCluster();
  const groups = [...(await discover(cluster, "/api")), ...(await discover(cluster, "/apis"))];
  return { groups, schemas: await readSchemas(cluster), columns: await readColumns(cluster, groups) };
}

/** `apps.v1.Deployment` for `io.k8s.api.apps.v1.Deployment`, `resource.Quantity` for those without a version. */
export function shortName(openApiName: string): string {
  const versioned = /([^.]+)\.(v\d\w*)\.([^.]+)$/.exec(openApiName);
  return versioned ? versioned.slice(1).join(".") : openApiName.split(".").slice(-2).join(".");
}

async function getJson<T>(cluster: RealCluster, path: string, accept = "application/json"): Promise<T> {
  const api = { url: cluster.url, ca: cluster.ca, token: cluster.adminToken };
  const answer = await call(api, "GET", path, undefined, { accept });
  if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status} ${answer.body}`);
  return JSON.parse(answer.body) as T;
}

async function discover(cluster: RealCluster, path: string): Promise<DiscoveredGroup[]> {
  const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  return (await getJson<{ items: DiscoveredGroup[] }>(cluster, path, accept)).items;
}

async function readSchemas(cluster: RealCluster): Promise<Record<string, OpenApiSchema>> {
  const index = await getJson<{ paths: Record<string, { serverRelativeURL: string }> }>(cluster, "/openapi/v3");
  const schemas: Record<string, OpenApiSchema> = {};
  for (const [path, { serverRelativeURL }] of Object.entries(index.paths)) {
    if (!/^apis?\//.test(path)) continue;
    type Document = { components?: { schemas?: Record<string, OpenApiSchema> } };
    const document = await getJson<Document>(cluster, serverRelativeURL);
    for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
      schemas[shortName(name)] = withoutProse(schema);
    }
  }
  return schemas;
}

/** Removes descriptions, but not a property that is called so. */
export function withoutProse(schema: OpenApiSchema): OpenApiSchema {
  const { description: _, ...rest } = schema as OpenApiSchema & { description?: string };
  if (rest.properties) {
    rest.properties = Object.fromEntries(
      Object.entries(rest.properties).map(([name, node]) => [name, withoutProse(node)]),
    );
  }
  if (rest.items) rest.items = withoutProse(rest.items);
  if (rest.additionalProperties) rest.additionalProperties = withoutProse(rest.additionalProperties);
  return rest;
}

async function readColumns(cluster: RealCluster, groups: DiscoveredGroup[]): Promise<Record<string, Column[]>> {
  const columns: Record<string, Column[]> = {};
  for (const group of groups) {
    const name = group.metadata.name ?? "";
    for (const { version, resources } of group.versions) {
      for (const { resource, verbs } of resources) {
        if (!verbs.includes("list")) continue;
        const path = name === "" ? `/api/${version}/${resource}` : `/apis/${name}/${version}/${resource}`;
        const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
        const table = await getJson<{ columnDefinitions: Column[] }>(cluster, path, accept);
        columns[`${name}/${version}/${resource}`] = table.columnDefinitions;
      }
    }
  }
  return columns;
}
