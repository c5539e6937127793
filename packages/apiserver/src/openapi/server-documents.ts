import type { ServedGroup } from "../discovery/api-groups.ts";
import { builtinSchemaName, schemaReference } from "./schema-names.ts";

export type Paths = Record<string, Record<string, unknown>>;

const TYPES = ["application/json", "application/vnd.kubernetes.protobuf", "application/yaml"];

/** One operation that only reads, and its answer: of a kind, or text of a type. */
function reading(path: string, tag: string, operationId: string, answer: { kind?: string; type?: string }): Paths {
  const { kind, type } = answer;
  const schema = kind === undefined ? { type: "string" } : schemaReference(builtinSchemaName(kind));
  const content = Object.fromEntries((type === undefined ? TYPES : [type]).map((one) => [one, { schema }]));
  const responses = { "200": { description: "OK", content }, "401": { description: "Unauthorized" } };
  return { [path]: { get: { tags: [tag], operationId, responses } } };
}

/** The document that lists the resources of a version of a group. */
export function resourceListPaths(root: string, tag: string, id: string): Paths {
  return reading(`${root}/`, tag, `get${id}APIResources`, { kind: "meta.v1.APIResourceList" });
}

/** The version document's schema: it is of no API. */
export const VERSION_INFO = "version.Info";
const VERSION_FIELDS = [
  "major",
  "minor",
  "gitVersion",
  "gitCommit",
  "gitTreeState",
  "buildDate",
  "goVersion",
  "compiler",
  "platform",
];
const FURTHER_FIELDS = ["emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor"];

export const VERSION_SCHEMA = {
  type: "object",
  required: VERSION_FIELDS,
  properties: Object.fromEntries([
    ...VERSION_FIELDS.map((name) => [name, { type: "string", default: "" }]),
    ...FURTHER_FIELDS.map((name) => [name, { type: "string" }]),
  ]),
};

/** The paths that are about the server rather than about objects, by the name of the document they are in. */
export function serverDocuments(groups: readonly ServedGroup[]): Map<string, Paths> {
  const documents = new Map<string, Paths>([
    ["api", reading("/api/", "core", "getCoreAPIVersions", { kind: "meta.v1.APIVersions" })],
    ["apis", reading("/apis/", "apis", "getAPIVersions", { kind: "meta.v1.APIGroupList" })],
    ["version", reading("/version/", "version", "getCodeVersion", { kind: VERSION_INFO, type: "application/json" })],
    [
      ".well-known/openid-configuration",
      reading("/.well-known/openid-configuration/", "WellKnown", "getServiceAccountIssuerOpenIDConfiguration", {
        type: "application/json",
      }),
    ],
    [
      "openid/v1/jwks",
      reading("/openid/v1/jwks/", "openid", "getServiceAccountIssuerOpenIDKeyset", {
        type: "application/jwk-set+json",
      }),
    ],
  ]);
  for (const { group, versions } of groups) {
    if (group === "" || versions.every(({ resources }) => resources.every(({ definition }) => definition.custom)))
      continue;
    const tag = groupId(group);
    const id = `get${capital(tag)}APIGroup`;
    documents.set(`apis/${group}`, reading(`/apis/${group}/`, tag, id, { kind: "meta.v1.APIGroup" }));
  }
  return documents;
}

/** `apps`, `core`, `exampleCom`, `coordination`: the first part of Kubernetes' own groups, all parts of others. */
export function groupId(group: string): string {
  if (group === "") return "core";
  const parts = group.endsWith(".k8s.io") ? [group.slice(0, -".k8s.io".length)] : [group];
  return parts[0]!
    .split(/[.-]/)
    .map((part, index) => (index === 0 ? part : capital(part)))
    .join("");
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
