import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@konverge/core";
import { builtinResources, definition } from "@konverge/kinds";
import { ApiServer } from "../server.ts";

const BODIES = [
  "{}",
  '{"metadata":{}}',
  '{"spec":{}}',
  '{"metadata":{"name":"a"}}',
  '{"metadata":{"generateName":"a-"}}',
];
const STRANGE_KINDS = [".", "a.b", "/../../package", "constructor", "__proto__"];

/** Kinds that Kubernetes validates without making an error of the API of what is wrong: these answer 500 there as well. */
const UNWORDED = new Set(["bindings"]);

const creatable = builtinResources().filter(({ verbs, plural }) => verbs.includes("create") && !UNWORDED.has(plural));

async function post(
  server: ApiServer,
  { group, version, plural, namespaced }: (typeof creatable)[number],
  body: string,
) {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const path = `${root}/${namespaced ? "namespaces/default/" : ""}${plural}?dryRun=All`;
  return server.transport({ method: "POST", path, headers: { "content-type": "application/json" }, body });
}

test("an object with next to nothing in it is accepted or refused, whatever its kind", async () => {
  const server = new ApiServer({ clock: new VirtualClock() });
  for (const resource of creatable) {
    for (const body of BODIES) {
      const { status, body: answer } = await post(server, resource, body);
      assert.ok(status < 500, `${resource.plural} ${body}: ${status} ${answer}`);
    }
  }
});

const VALUES: Record<string, unknown> = { string: "a", bool: true, int32: -1, int64: -1, float64: -1, bytes: "YQ==" };

/** Objects with a single field, for each field of a definition, and of those in it that have not been visited. */
function* withOneField(name: string, around: (value: object) => object, visited: Set<string>): Generator<object> {
  if (visited.has(name)) return;
  visited.add(name);
  const package_ = name.slice(0, name.lastIndexOf("."));
  for (const [field, [type]] of Object.entries(definition(name)?.fields ?? {})) {
    const [, outer = "", element = ""] = /^((?:(?:map|items)?\[\])*)(.+)$/.exec(type) ?? [];
    const collections = outer.match(/(?:map|items)?\[\]/g) ?? [];
    const wrapped = (value: unknown): object => {
      const whole = collections.reduceRight((inner, one) => (one === "map[]" ? { a: inner } : [inner]), value);
      return around({ [field]: whole });
    };
    yield wrapped(VALUES[element] ?? {});
    if (collections.length > 0) yield around({ [field]: null });
    if (element in VALUES) continue;
    yield* withOneField(element.includes(".") ? element : `${package_}.${element}`, wrapped, visited);
  }
}

test("an object with a single field is accepted or refused, whatever its kind and the field", async () => {
  const server = new ApiServer({ clock: new VirtualClock() });
  const visited = new Set<string>();
  for (const resource of creatable) {
    for (const object of withOneField(resource.definition, (value) => value, visited)) {
      const body = JSON.stringify({ metadata: { name: "a" }, ...object });
      const { status, body: answer } = await post(server, resource, body);
      assert.ok(status < 500, `${resource.plural} ${body}: ${status} ${answer}`);
    }
  }
});

test("an object of a kind that is no name is refused", async () => {
  const server = new ApiServer({ clock: new VirtualClock() });
  for (const resource of creatable) {
    for (const kind of STRANGE_KINDS) {
      const { status } = await post(server, resource, JSON.stringify({ kind }));
      assert.equal(status, 400, `${resource.plural} ${kind}`);
    }
  }
});

test("a patch that makes the type of an object unreadable is refused, in the words of the decoder that reads the result", async () => {
  const server = new ApiServer({ clock: new VirtualClock() });
  const MAPS = "/api/v1/namespaces/default/configmaps";
  const send = async (method: string, path: string, type: string, body: object) => {
    const headers = { "content-type": `application/${type}` };
    const response = await server.transport({ method, path, headers, body: JSON.stringify(body) });
    return {
      status: response.status,
      message: (JSON.parse(String(response.body)) as { message?: string }).message ?? "",
    };
  };
  await send("POST", MAPS, "json", { metadata: { name: "a" } });
  const merged = await send("PATCH", `${MAPS}/a`, "merge-patch+json", { apiVersion: {} });
  assert.equal(merged.status, 422);
  assert.match(merged.message, /cannot unmarshal object into Go struct field \.apiVersion of type string$/);
  const strategic = await send("PATCH", `${MAPS}/a`, "strategic-merge-patch+json", { kind: ["x"] });
  assert.equal(strategic.status, 422);
  assert.match(strategic.message, /unrecognized type: string$/);
  const nameless = await send("PATCH", `${MAPS}/a`, "merge-patch+json", { apiVersion: null });
  assert.equal(nameless.status, 400);
  assert.match(nameless.message, /was undeterminable: name must be provided$/);
  for (const type of ["merge-patch+json", "strategic-merge-patch+json"])
    assert.equal((await send("PATCH", `${MAPS}/a`, type, { kind: null })).status, 200);
});
