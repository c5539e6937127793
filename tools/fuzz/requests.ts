import { type Random, seededRandom } from "@konverge/core";
import { type BuiltinResource, builtinResources } from "@konverge/kinds";
import { cborBytes, damagedBytes, jsonText, protobufBytes, yamlText } from "./encodings.ts";
import { hostileValue } from "./hostile-values.ts";
import { NAMES, objectFor, type Subject } from "./objects.ts";
import { patchFor } from "./patches.ts";
import { pathOf, queryFor, STRANGE_PATHS } from "./targets.ts";

/** One request, as it goes over the wire. */
export interface FuzzRequest {
  readonly protocol: "http/1.1" | "h2";
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** What HTTP/1.1 says of the body's length: the truth, nothing, or something else. */
  readonly framing: "length" | "chunked" | "too long" | "too short";
}

const resources: readonly BuiltinResource[] = [...builtinResources(), thing()];
/** Those behind which most of the code is: subresources, a schema with rules, allocation. */
const deep = resources.filter(({ plural }) => ["pods", "things", "services", "deployments"].includes(plural));
/** What would turn all later requests away if it were stored: it is validated alone. */
const DRY_RUN_ONLY = /^(mutating|validating)|^apiservices$/;
/** Without these, the requests that follow would meet less. */
const NEEDED = new Set(["customresourcedefinitions", "nodes", "namespaces"]);
const STREAMING = new Set(["exec", "attach", "portforward", "proxy", "log"]);
const METHODS: Record<string, string> = {
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETE",
};
const STRANGE_METHODS = ["HEAD", "OPTIONS", "PUT", "POST", "PATCH", "DELETE", "PROPFIND", "M-SEARCH"];
const ACCEPTED = [
  ...["application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/cbor", "*/*", ""],
  ...[
    "application/json;as=Table;g=meta.k8s.io;v=v1",
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
  ],
  ...[
    "application/json;as=Nothing;v=v9",
    "text/html;q=0.1,application/json;q=abc",
    "a/b;".repeat(2000),
    "application/json;stream=watch",
  ],
];
const STRANGE_HEADERS: readonly (readonly [string, string])[] = [
  ["authorization", "Bearer eyJhbGciOiJub25lIn0.e30."],
  ["authorization", `Bearer ${"a.".repeat(3000)}`],
  ["authorization", "Basic !!!"],
  ["impersonate-user", "system:serviceaccount:fuzz:default"],
  ["impersonate-user", "../x"],
  ["impersonate-group", "system:masters"],
  ["impersonate-extra-%zz%41", "x"],
  ["impersonate-extra-constructor", "x"],
  ["impersonate-uid", ""],
  ["x-remote-user", "admin"],
  ["accept-encoding", "gzip;q=0,br,*;q=1"],
  ["content-encoding", "gzip"],
  ["user-agent", "x".repeat(10_000)],
  ["origin", "null"],
  ["if-match", "*"],
  ["range", "bytes=0-0,1-99999999999999999999"],
  ["kubectl-command", "%00"],
  ["traceparent", "00-zz-zz-00"],
  ["content-type", ""],
];

/** The request with this number of a seed: always the same. */
export function requestOf(seed: number, number: number): FuzzRequest {
  const random = seededRandom(seed * 2 ** 20 + number);
  const resource = random.below(6) === 0 ? random.pick(deep) : random.pick(resources);
  const subresources = resource.subresources;
  const part = subresources.length > 0 && random.below(3) === 0 ? random.pick(subresources) : undefined;
  const verb = random.pick((part?.verbs ?? resource.verbs).length > 0 ? (part?.verbs ?? resource.verbs) : ["get"]);
  const method = random.below(20) === 0 ? random.pick(STRANGE_METHODS) : (METHODS[verb] ?? "GET");
  const name = random.below(2) === 0 ? NAMES[0]! : random.pick(NAMES);
  const isOne = part !== undefined || !["list", "watch", "create", "deletecollection"].includes(verb);
  const path =
    random.below(15) === 0
      ? random.pick(STRANGE_PATHS)
      : pathOf(random, resource, isOne ? name : undefined, part?.name, part !== undefined && STREAMING.has(part.name));
  const query = queryFor(random, resource, { watch: verb === "watch", method });
  const dryRun =
    method !== "GET" &&
    (DRY_RUN_ONLY.test(resource.plural) ||
      (method === "DELETE" && !resource.namespaced && (!isOne || NEEDED.has(resource.plural))));
  if (dryRun) query.push("dryRun=All");
  // The options in the body of a delete would count instead of the parameters.
  const hasBody = ["POST", "PUT", "PATCH", "DELETE"].includes(method) && !(dryRun && method === "DELETE");
  const { type, body } = hasBody
    ? bodyFor(random, { resource, kind: part?.kind ?? resource, name, method })
    : { type: undefined, body: Buffer.alloc(0) };
  const headers: (readonly [string, string])[] = [];
  if (random.below(6) === 0) headers.push(["accept", random.pick(ACCEPTED)]);
  if (type !== undefined) headers.push(["content-type", type]);
  if (random.below(8) === 0) headers.push(random.pick(STRANGE_HEADERS));
  const protocol = random.below(4) === 0 ? "http/1.1" : "h2";
  const framing = random.below(10) === 0 ? random.pick(["chunked", "too long", "too short"] as const) : "length";
  const target = query.length > 0 ? `${path}?${query.join("&")}` : path;
  return { protocol, method, target, headers, body, framing };
}

function bodyFor(random: Random, about: Subject & { method: string }): { type: string | undefined; body: Buffer } {
  const { type, body } = about.method === "PATCH" ? patchFor(random, about) : plainBody(random, about);
  const bytes = random.below(12) === 0 ? damagedBytes(random, body) : body;
  return { type: random.below(25) === 0 ? random.pick(ACCEPTED) : type, body: bytes };
}

const DELETE_OPTIONS = { group: "meta.k8s.io", version: "v1", kind: "DeleteOptions" };

function plainBody(random: Random, about: Subject & { method: string }): { type: string; body: Buffer } {
  const kind = about.method === "DELETE" ? DELETE_OPTIONS : about.kind;
  const object =
    about.method === "DELETE" && random.below(2) === 0 ? hostileValue(random) : objectFor(random, { ...about, kind });
  switch (random.below(10)) {
    case 0:
    case 1:
      return { type: "application/vnd.kubernetes.protobuf", body: protobufBytes(random, kind) };
    case 2:
      return { type: "application/cbor", body: cborBytes(object) };
    case 3:
    case 4:
      return { type: "application/yaml", body: Buffer.from(yamlText(random, object)) };
    default:
      return { type: "application/json", body: Buffer.from(jsonText(random, object)) };
  }
}

/** The custom resource that the set-up defines. */
function thing(): BuiltinResource {
  const verbs = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
  const kind = { group: "fuzz.example.com", version: "v1", kind: "Thing" };
  const part = (name: string) => ({ name, verbs: ["get", "update", "patch"], kind });
  const names = { plural: "things", singular: "thing", namespaced: true, verbs, shortNames: [], categories: [] };
  const subresources = [part("status"), part("scale")];
  return { ...kind, ...names, subresources, columns: [], selectableFields: [], definition: "", computedDefaults: [] };
}
