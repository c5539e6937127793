import { type Random, seededRandom } from "@konverge/core";
import { hostileName } from "./hostile-values.ts";
import type { FuzzRequest } from "./requests.ts";

/** The server's own bounds: what is sent has just as much as they allow, a little less, or a little more. */
const MEBIBYTE = 1024 * 1024;
const LARGEST_HEAD = MEBIBYTE;
const HEADER_OVERHEAD = 32;
const LARGEST_BODY = 3 * MEBIBYTE;
const DEEPEST = 10_000;

/** A request at the limits, by an administrator or by an anonymous client. */
export interface LimitRequest {
  readonly what: string;
  readonly anonymous: boolean;
  readonly request: FuzzRequest;
}

type Part = Partial<Pick<FuzzRequest, "protocol" | "method" | "target" | "headers" | "body">> & { what: string };

/** The request at the limits with this number of a seed: always the same. */
export function limitOf(seed: number, number: number): LimitRequest {
  const random = seededRandom(seed * 2 ** 20 + number);
  const { what, ...part } = random.pick([headerLimit, headerLimit, targetLimit, bodyLimit])(random);
  const defaults = {
    protocol: "h2",
    method: "GET",
    target: random.pick(TARGETS),
    headers: [],
    framing: "length",
  } as const;
  return { what, anonymous: random.below(2) === 0, request: { ...defaults, body: Buffer.alloc(0), ...part } };
}

const TARGETS = ["/healthz", "/version", "/api/v1/namespaces/fuzz/configmaps", "/apis/apps/v1/deployments"];
const CONFIGMAPS = "/api/v1/namespaces/fuzz/configmaps?dryRun=All";

/** Something close to a bound, on either side of it. */
const near = (random: Random, bound: number): number =>
  random.pick([bound, bound - 1, bound + 1, Math.floor(bound * 0.97), Math.floor(bound / 2)]);

const repeat = (count: number, make: (i: number) => readonly [string, string]) =>
  Array.from({ length: count }, (_, i) => make(i));
const spelled = (number: number) =>
  [..."abcdefghijklmnop"]
    .map((letter, i) => ((number >> i) & 1 ? `%${letter.charCodeAt(0).toString(16)}` : letter))
    .join("");

function headerLimit(random: Random): Part {
  const protocol = random.below(3) === 0 ? "http/1.1" : "h2";
  const most = near(random, LARGEST_HEAD);
  const name = random.pick(["x", "cookie", "accept", "impersonate-group", "x-forwarded-for", "x-real-ip", "warning"]);
  const one = (text: string) => Math.floor(most / (text.length + 8 + HEADER_OVERHEAD));
  const list = (item: string) => item.repeat(Math.floor((most - 200) / item.length));
  const [what, headers] = random.pick<() => [string, readonly (readonly [string, string])[]]>([
    () => [`${name}, repeated`, repeat(one(name), () => [name, ""])],
    () => [`${name}, repeated with values`, repeat(one(name), (i) => [name, `${i}`])],
    () => ["different headers", repeat(one("x-0000"), (i) => [`x-${i}`, "y"])],
    () => [
      "impersonate-extra with one key",
      repeat(one("impersonate-extra-%61%62%63%64"), (i) => [`impersonate-extra-${spelled(i)}`, "v"]),
    ],
    () => [
      "impersonate-extra with inherited keys",
      [[`impersonate-extra-${random.pick(["constructor", "__proto__", "tostring"])}`, "x"]],
    ],
    () => ["media types", [["accept", list("a/b;q=0.1,")]]],
    () => ["parameters of a media type", [["accept", `application/json${list(";a=b")}`]]],
    () => ["encodings", [["accept-encoding", list("gzip;q=0,")]]],
    () => [
      "addresses",
      [
        [
          random.pick(["x-forwarded-for", "x-real-ip"]),
          Array.from({ length: 90_000 }, (_, i) => `1.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
            .join()
            .slice(0, most - 500),
        ],
      ],
    ],
    () => ["a token", [["authorization", `Bearer ${list(random.pick(["a.", "..", "e30"]))}`]]],
    () => ["cookies", [["cookie", list("a=b; ")]]],
    () => ["one long header", [[name, list("y")]]],
    () => [
      "protocols",
      [
        ["sec-websocket-protocol", list("a,")],
        ["x-stream-protocol-version", "v4.channel.k8s.io"],
      ],
    ],
  ])();
  const as =
    name === "impersonate-group" || what.startsWith("impersonate") ? [["impersonate-user", "jane"] as const] : [];
  return { what, protocol, headers: random.below(4) === 0 ? headers : [...as, ...headers] };
}

function targetLimit(random: Random): Part {
  const most = near(random, LARGEST_HEAD) - 300;
  const fill = (start: string, item: string, end = "") =>
    start + item.repeat(Math.max(0, Math.floor((most - start.length - end.length) / item.length))) + end;
  const pods = "/api/v1/namespaces/fuzz/pods";
  const [what, target] = random.pick<readonly [string, () => string]>([
    ["slashes", () => fill("/", "/", "x")],
    ["slashes within", () => fill("/api/v1/pods/x", "/", "y")],
    ["segments", () => fill(pods, "/a")],
    ["encoded slashes", () => fill(pods, "%2F")],
    ["dots", () => fill(pods, "/..")],
    ["a namespace", () => fill("/api/v1/namespaces/", "n", "/pods")],
    ["a name", () => fill(`${pods}/`, "n")],
    ["a group", () => fill("/apis/", "g", "/v1/things")],
    ["a path", () => fill("/healthz/", "p")],
    ["parameters", () => fill(`${pods}?`, "a=b&")],
    ["names of parameters", () => fill(`${pods}?`, "a&")],
    ["the same parameter", () => fill(`${pods}?`, "dryRun=All&")],
    ["encoded parameters", () => fill(`${pods}?`, "%61=%62&")],
    ["a label selector", () => fill(`${pods}?labelSelector=`, "a=b,", "c")],
    ["labels that are not there", () => fill(`${pods}?labelSelector=`, "!a,", "!c")],
    ["values of a selector", () => fill(`${pods}?labelSelector=a%20in%20(`, "b,", "c)")],
    ["a field selector", () => fill(`${pods}?fieldSelector=`, "metadata.name!=b,", "metadata.name=c")],
    ["escapes of a field selector", () => fill(`${pods}?fieldSelector=metadata.name=`, "%5C%5C")],
    ["a continue token", () => fill(`${pods}?limit=1&continue=`, "e30")],
    ["a field manager", () => fill(`${pods}?fieldManager=`, "f")],
    ["a time", () => fill(`${pods}?timeout=`, "1h")],
    ["a resource version", () => fill(`${pods}?resourceVersion=`, "9")],
    ["a limit", () => fill(`${pods}?limit=`, "9")],
    ["hours", () => fill(`${pods}?timeout=`, "9", "h")],
    ["exclusions", () => fill("/readyz?", "exclude=x&")],
    ["a command", () => fill(`${pods}/running/exec?`, "command=x&")],
  ]);
  return { what, target: target(), protocol: random.below(2) === 0 ? "http/1.1" : "h2" };
}

const object = (rest: string) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"fuzz-a"}${rest}}`;

function bodyLimit(random: Random): Part {
  const most = near(random, LARGEST_BODY) - 200;
  const many = (item: (i: number) => string, size: number) =>
    Array.from({ length: Math.floor(most / size) }, (_, i) => item(i)).join();
  const depth = near(random, DEEPEST);
  const json = (text: string, target = CONFIGMAPS): Omit<Part, "what"> => ({
    ...{ method: "POST", target, headers: [["content-type", "application/json"]], body: Buffer.from(text) },
  });
  const patch = (type: string, text: string): Omit<Part, "what"> => ({
    ...{ method: "PATCH", target: "/api/v1/namespaces/fuzz?dryRun=All&fieldManager=fuzz&force=true" },
    ...{ headers: [["content-type", `application/${type}`]], body: Buffer.from(text) },
  });
  const [what, part] = random.pick<() => [string, Omit<Part, "what">]>([
    () => ["keys", json(object(`,"data":{${many((i) => `"k${i}":""`, 12)}}`))],
    () => ["keys that are not valid", json(object(`,"data":{${many((i) => `"${i}/":""`, 12)}}`))],
    () => ["unknown fields", json(object(`,${many((i) => `"u${i}":1`, 11)}`))],
    () => ["the same field", json(object(`,${many(() => `"data":{}`, 10)}`))],
    () => [
      "labels",
      json(
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"fuzz-a","labels":{${many((i) => `"l${i}":""`, 12)}}}}`,
      ),
    ],
    () => [
      "finalizers",
      json(
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"fuzz-a","finalizers":[${many((i) => `"a/f${i}"`, 12)}]}}`,
      ),
    ],
    () => [
      "owners",
      json(
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"fuzz-a","ownerReferences":[${many((i) => `{"uid":"${i}"}`, 16)}]}}`,
      ),
    ],
    () => ["nesting", json(object(`,"x":${random.pick(["[", '{"a":'])}`.padEnd(most, random.pick(["[", '{"a":']))))],
    () => ["closed nesting", json(object(`,"x":${"[".repeat(depth)}${"]".repeat(depth)}`))],
    () => ["a string", json(object(`,"data":{"k":"${"\\u00e9".repeat(Math.floor(most / 6))}"}`))],
    () => ["a number", json(object(`,"x":${"9".repeat(most)}`))],
    () => ["spaces", json(object(" ".repeat(most)))],
    () => [
      "hostile keys",
      json(object(`,"data":{${many((i) => `${JSON.stringify(`${hostileName(random).slice(0, 20)}${i}`)}:""`, 40)}}`)),
    ],
    () => [
      "containers",
      json(
        `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[${many((i) => `{"name":"c${i}"}`, 16)}]}}`,
        "/api/v1/namespaces/fuzz/pods?dryRun=All",
      ),
    ],
    () => [
      "things",
      json(
        `{"apiVersion":"fuzz.example.com/v1","kind":"Thing","metadata":{"name":"t"},"spec":{"items":[${many((i) => `{"name":"n${i}"}`, 16)}]}}`,
        "/apis/fuzz.example.com/v1/namespaces/fuzz/things?dryRun=All",
      ),
    ],
    () => [
      "rules",
      json(
        `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"r"},"rules":[${many((i) => `{"verbs":["v${i}"],"resources":["r"],"apiGroups":[""]}`, 56)}]}`,
        "/apis/rbac.authorization.k8s.io/v1/namespaces/fuzz/roles?dryRun=All",
      ),
    ],
    () => [
      "operations",
      patch("json-patch+json", `[${many((i) => `{"op":"add","path":"/metadata/labels/l${i}","value":""}`, 56)}]`),
    ],
    () => [
      "tests",
      patch("json-patch+json", `[${many(() => `{"op":"test","path":"/metadata/name","value":"fuzz"}`, 53)}]`),
    ],
    () => ["a merge", patch("merge-patch+json", `{"metadata":{"annotations":{${many((i) => `"a${i}":"v"`, 12)}}}}`)],
    () => [
      "an apply",
      patch(
        "apply-patch+yaml",
        `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"fuzz","annotations":{${many((i) => `"a${i}":"v"`, 13)}}}}`,
      ),
    ],
    () => [
      "YAML",
      {
        ...json(
          `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: fuzz-a}\ndata:\n${Array.from({ length: Math.floor(most / 12) }, (_, i) => `  k${i}: v`).join("\n")}`,
        ),
        headers: [["content-type", "application/yaml"]],
      },
    ],
  ])();
  return { what: `body of ${what}`, ...part };
}
