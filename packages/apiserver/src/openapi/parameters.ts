/** A parameter of an operation, as OpenAPI writes it. */
export interface Parameter {
  name: string;
  in: "query" | "path";
  required?: true;
  schema: { type: string; uniqueItems: true };
}

export const query = (name: string, type = "string"): Parameter => ({
  name,
  in: "query",
  schema: { type, uniqueItems: true },
});
const path = (name: string): Parameter => ({
  name,
  in: "path",
  required: true,
  schema: { type: "string", uniqueItems: true },
});

export const PRETTY = query("pretty");
export const NAME = path("name");
export const NAMESPACE = path("namespace");
/** What lies below a proxy. */
export const PATH = path("path");

export const LIST = [
  query("allowWatchBookmarks", "boolean"),
  query("continue"),
  query("fieldSelector"),
  query("labelSelector"),
  query("limit", "integer"),
  query("resourceVersion"),
  query("resourceVersionMatch"),
  query("sendInitialEvents", "boolean"),
  query("shardSelector"),
  query("timeoutSeconds", "integer"),
  query("watch", "boolean"),
];

export const WRITE = [query("dryRun"), query("fieldManager"), query("fieldValidation")];
export const PATCH = [...WRITE, query("force", "boolean")];

export const DELETE = [
  query("dryRun"),
  query("gracePeriodSeconds", "integer"),
  query("ignoreStoreReadErrorWithClusterBreakingPotential", "boolean"),
  query("orphanDependents", "boolean"),
  query("propagationPolicy"),
];

/** Those of a delete, and those that choose what is deleted. */
export const DELETE_COLLECTION = [
  ...DELETE,
  ...LIST.filter(({ name }) => name !== "watch" && name !== "allowWatchBookmarks"),
].sort((a, b) => (a.name < b.name ? -1 : 1));

/** Parameters sorted by name, as a path that has them in common lists them. */
export function sorted(...parameters: Parameter[]): Parameter[] {
  return parameters.sort((a, b) => (a.name < b.name ? -1 : 1));
}
