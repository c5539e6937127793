import type { Random } from "@konverge/core";
import type { BuiltinResource } from "@konverge/kinds";
import { hostileString } from "./hostile-values.ts";

/** Where the set-up's pod runs; nothing is deleted there. */
export const STEADY = "fuzz-steady";
const NAMESPACES = [...Array.from({ length: 12 }, () => "fuzz"), "default", "kube-system", "absent"];

export const STRANGE_PATHS = [
  ...[
    "/",
    "//",
    "/api",
    "/apis",
    "/api/v1/",
    "/api//v1",
    "/api/v1/../../healthz",
    "/api/v1/namespaces/fuzz/../..",
    "/%2e%2e/%2e%2e",
  ],
  ...[
    "/healthz/ping",
    "/readyz?verbose",
    "/livez?exclude=x",
    "/metrics",
    "/version/",
    "/openapi/v2",
    "/openapi/v3",
    "/openapi/v3/api/v1",
  ],
  ...[
    "/openapi/v3/apis/x/v1?hash=1",
    "/.well-known/openid-configuration",
    "/openid/v1/jwks",
    "/logs/",
    "/debug/pprof/heap",
  ],
  ...[
    "/apis/apps/v1/namespaces/fuzz/deployments/fuzz-a/scale/x",
    "/apis/%00/v1",
    "/apis/apps/v0",
    "/api/v1/watch/pods",
    "/api/v1/proxy/x",
  ],
  ...[
    "/api/v1/watch/namespaces/fuzz/pods/fuzz-a",
    "/api/v1/nodes/x/proxy/../..",
    "/apis/fuzz.example.com/v1/things/x/y/z",
    `/${"a/".repeat(4000)}`,
  ],
  ...[
    `/api/v1/pods/${"x".repeat(9000)}`,
    "/api/v1/namespaces/%2e%2e/pods",
    "/api/v1/namespaces/fuzz/pods/a%2Fb",
    "/api/v1/namespaces/fuzz/pods/%",
  ],
  ...[
    "/api/v1/namespaces/fuzz/services/https:a:b/proxy/%2e%2e/",
    "*",
    "http://elsewhere/api",
    "/api/v1?watch=1",
    "/apis/apps/v1?as=Table",
  ],
];

/** The path of a collection, an object or a part of one. Streams need a pod that runs. */
export function pathOf(
  random: Random,
  { group, version, plural, namespaced }: BuiltinResource,
  name: string | undefined,
  part: string | undefined,
  isStream: boolean,
): string {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const segment = (names: readonly string[]) =>
    random.below(30) === 0 ? encodeURIComponent(hostileString(random).toWellFormed()) : random.pick(names);
  const isSteady = isStream && plural === "pods" && random.below(4) > 0;
  const everywhere = namespaced && name === undefined && random.below(4) === 0;
  const namespace = isSteady ? STEADY : segment(NAMESPACES);
  const all = namespaced && !everywhere ? `${root}/namespaces/${namespace}/${plural}` : `${root}/${plural}`;
  if (name === undefined) return all;
  const one = `${all}/${isSteady ? "running" : segment([name])}`;
  return part === undefined ? one : `${one}/${part}`;
}

const CONTINUE = [
  ...[
    "x",
    "e30",
    "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJ4XHUwMDAwIn0",
    "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiLi4vLi4ifQ",
  ],
  ...["eyJ2IjoiOSIsInJ2IjoxZTk5fQ", "W1tbW1tbW1tb", "=".repeat(5000)],
];
/** Parameters, and what they are given besides hostile strings. */
const PARAMETERS: Record<string, readonly string[]> = {
  labelSelector: [
    "a=b",
    "a in (b,c),!d",
    "a notin ()",
    "a>1",
    `${"a=b,".repeat(3000)}c`,
    "(((",
    "a in (a,,b)",
    "=",
    ",",
  ],
  fieldSelector: [
    "metadata.name=fuzz-a",
    "spec.nodeName!=x",
    "status.phase=Running,metadata.namespace=",
    "a\\,b=c\\=d",
    "nope=1",
    "=",
  ],
  limit: ["1", "0", "-1", "9223372036854775807", "1e3"],
  continue: CONTINUE,
  resourceVersion: ["0", "1", "-1", "99999999", "18446744073709551616", "x"],
  resourceVersionMatch: ["Exact", "NotOlderThan", "x"],
  sendInitialEvents: ["true", "false", "x"],
  allowWatchBookmarks: ["true", "x"],
  timeoutSeconds: ["1", "0", "-1", "99999999999999"],
  timeout: ["1s", "1ns", "-1s", "99999h", "x"],
  watch: ["1", "true", "0", "x"],
  pretty: ["1", "x"],
  fieldManager: ["fuzz", "x".repeat(200), "\u0000"],
  fieldValidation: ["Strict", "Warn", "Ignore", "x"],
  force: ["true", "x"],
  dryRun: ["All", "x"],
  propagationPolicy: ["Orphan", "Background", "Foreground", "x"],
  gracePeriodSeconds: ["0", "-1", "99999999999", "x"],
  orphanDependents: ["true", "x"],
  ignoreStoreReadErrorWithClusterBreakingPotential: ["true", "x"],
  container: ["c", "absent"],
  command: ["echo", "sh", "cat /etc/passwd"],
  stdin: ["true", "x"],
  stdout: ["true"],
  tty: ["true", "x"],
  follow: ["true", "x"],
  previous: ["true"],
  tailLines: ["1", "-1", "99999999999999999999"],
  limitBytes: ["1", "0", "-5"],
  sinceSeconds: ["1", "-1", "9999999999999"],
  sinceTime: ["2020-01-01T00:00:00Z", "x"],
  ports: ["80", "0", "99999", "80,x"],
  path: ["/", "../x"],
};

/** Parameters that are right, wrong, or given twice. */
export function queryFor(
  random: Random,
  { selectableFields }: BuiltinResource,
  { watch, method }: { watch: boolean; method: string },
): string[] {
  const query = watch ? ["watch=true"] : [];
  if (random.below(3) > 0) return query;
  const names = Object.keys(PARAMETERS);
  for (let i = 1 + random.below(4); i > 0; i--) {
    const name = random.below(20) === 0 ? hostileString(random) : random.pick(names);
    const known = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name]! : [""];
    const value = random.below(5) === 0 ? hostileString(random) : random.pick(known);
    query.push(`${escaped(name)}=${random.below(30) === 0 ? "%zz%" : escaped(value)}`);
  }
  if (method === "PATCH" && random.below(2) === 0) query.push("fieldManager=fuzz", "force=true");
  if (selectableFields.length > 0 && random.below(8) === 0)
    query.push(`fieldSelector=${random.pick(selectableFields)}=x`);
  return query;
}

const escaped = (text: string) => encodeURIComponent(text.toWellFormed());
