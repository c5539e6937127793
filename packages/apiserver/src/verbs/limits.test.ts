import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_JSON_DEPTH, VirtualClock } from "@konverge/core";
import { ApiServer } from "../server.ts";

// What one request may ask for. The words are kube-apiserver's; see limits.real.test.ts.

const MAPS = "/api/v1/namespaces/default/configmaps";
const OPENS = "/apis/example.com/v1/namespaces/default/opens";
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const JSON_TYPE = "application/json";
const YAML_TYPE = "application/yaml";
const PATCH = { json: "application/json-patch+json", merge: "application/merge-patch+json" };
const APPLY = "application/apply-patch+yaml";
const STRATEGIC = "application/strategic-merge-patch+json";

async function stage() {
  const server = new ApiServer({ clock: new VirtualClock() });
  const send = async (method: string, path: string, type: string, body?: string | object) => {
    const text = typeof body === "object" ? JSON.stringify(body) : body;
    const response = await server.transport({
      method,
      path,
      headers: { "content-type": type },
      ...(text !== undefined && { body: text }),
    });
    const { message, details } = JSON.parse(String(response.body)) as {
      message?: string;
      details?: { causes?: unknown[] };
    };
    return { status: response.status, warnings: [response.headers["warning"] ?? []].flat(), message, details };
  };
  const names = { plural: "opens", singular: "open", kind: "Open", listKind: "OpenList" };
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const created = await send("POST", DEFINITIONS, JSON_TYPE, {
    metadata: { name: "opens.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names,
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  });
  assert.equal(created.status, 201);
  return send;
}

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
const open = (name: string, spec: string) =>
  `{"apiVersion":"example.com/v1","kind":"Open","metadata":{"name":"${name}"},"spec":${spec}}`;

test("an object that is nested as deep as it may be goes through every verb", async () => {
  const send = await stage();
  const spec = nested(MAX_JSON_DEPTH - 1);
  const lists = `${"[".repeat(MAX_JSON_DEPTH - 1)}${"]".repeat(MAX_JSON_DEPTH - 1)}`;
  assert.equal((await send("POST", OPENS, JSON_TYPE, open("a", spec))).status, 201);
  assert.equal((await send("PATCH", `${OPENS}/a`, PATCH.merge, `{"spec":${spec}}`)).status, 200);
  assert.equal((await send("PATCH", `${OPENS}/a`, PATCH.merge, `{"spec":{"a":null,"b":2}}`)).status, 200);
  assert.equal((await send("PATCH", `${OPENS}/a?fieldManager=x`, APPLY, open("a", spec))).status, 200);
  const replace = `[{"op":"replace","path":"/spec","value":${lists.slice(1, -1)}}]`;
  assert.equal((await send("PATCH", `${OPENS}/a`, PATCH.json, replace)).status, 200);
  assert.equal((await send("GET", `${OPENS}/a`, "")).status, 200);
  assert.equal((await send("DELETE", `${OPENS}/a`, "")).status, 200);
});

test("what is nested deeper is a bad request, in the words of the decoder it is for", async () => {
  const send = await stage();
  await send("POST", MAPS, JSON_TYPE, { metadata: { name: "m" } });
  await send("POST", OPENS, JSON_TYPE, open("o", "{}"));
  const unrecognized = "the object provided is unrecognized (must be of type ConfigMap): ";
  for (const levels of [MAX_JSON_DEPTH + 1, 20_000, 200_000]) {
    const deep = nested(levels);
    const refused: [string, string, string, string, string][] = [
      [
        "POST",
        MAPS,
        JSON_TYPE,
        `{"metadata":{"name":"x"},"x":${deep}}`,
        `${unrecognized}couldn't get version/kind; json parse error: invalid character '{' exceeded max depth ({"metadata":{"name":"x"},"x":{ ...)`,
      ],
      [
        "POST",
        MAPS,
        YAML_TYPE,
        `metadata: {name: y}\nx: ${deep}`,
        `${unrecognized}yaml: line 2: exceeded max depth of 500 (6d657461646174613a207b6e616d653a20797d0a783a207b2261223a7b22 ...)`,
      ],
      [
        "PATCH",
        `${OPENS}/o`,
        PATCH.merge,
        `{"spec":${deep}}`,
        "error decoding patch: invalid character '{' exceeded max depth",
      ],
      [
        "PATCH",
        `${OPENS}/o`,
        PATCH.json,
        `[{"op":"add","path":"/spec","value":${deep}}]`,
        "error decoding patch: invalid character '{' exceeded max depth",
      ],
      ["PATCH", `${MAPS}/m`, STRATEGIC, `{"data":${deep}}`, "invalid character '{' exceeded max depth"],
      [
        "PATCH",
        `${OPENS}/o?fieldManager=x`,
        APPLY,
        open("o", deep),
        "error decoding YAML: error converting YAML to JSON: yaml: exceeded max depth of 500",
      ],
      [
        "DELETE",
        `${MAPS}/m`,
        JSON_TYPE,
        `{"x":${deep}}`,
        "couldn't get version/kind; json parse error: invalid character '{' exceeded max depth",
      ],
    ];
    for (const [method, path, type, body, message] of refused) {
      const answer = await send(method, path, type, body);
      assert.deepEqual([answer.status, answer.message], [400, message], `${method} ${type}`);
    }
  }
});

test("a JSON patch cannot copy or nest an object beyond what a body may be", async () => {
  const send = await stage();
  await send("POST", OPENS, JSON_TYPE, open("o", nested(400)));
  const rejected = "the server rejected our request due to an error in our request";
  const deeper = `[{"op":"add","path":"/spec${"/a".repeat(399)}","value":${nested(400)}}]`;
  assert.deepEqual(pick(await send("PATCH", `${OPENS}/o`, PATCH.json, deeper)), [422, rejected]);
  const doubling = Array.from({ length: 26 }, (_, i) => ({ op: "copy", from: "/spec", path: `/spec/b${i}` }));
  assert.deepEqual(pick(await send("PATCH", `${OPENS}/o`, PATCH.json, doubling)), [422, rejected]);
  const many = Array.from({ length: 10_001 }, () => ({ op: "test", path: "/spec/z" }));
  assert.deepEqual(pick(await send("PATCH", `${OPENS}/o`, PATCH.json, many)), [
    413,
    "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
  ]);
});

const pick = ({ status, message }: { status: number; message?: string }) => [status, message];

test("field validation finds keys that come twice in YAML, however many there are", async () => {
  const send = await stage();
  const yaml = `metadata: {name: xx}\ndata:\n  a: b\n  a: c\n  b: d\n  b: d\n`;
  const strict = await send("POST", `${MAPS}?fieldValidation=Strict`, YAML_TYPE, yaml);
  assert.deepEqual(pick(strict), [
    400,
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal errors:\n  line 4: key "a" already set in map\n  line 6: key "b" already set in map',
  ]);
  const applied = `apiVersion: v1\nkind: ConfigMap\n${yaml}`;
  assert.deepEqual(pick(await send("PATCH", `${MAPS}/xx?fieldManager=x&fieldValidation=Strict`, APPLY, applied)), [
    400,
    'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 6: key "a" already set in map\n  line 8: key "b" already set in map',
  ]);
  const lines = "  k: v\n".repeat(29_000);
  assert.equal((await send("POST", MAPS, YAML_TYPE, `metadata: {name: many}\ndata:\n${lines}`)).status, 201);
});

test("warnings are sent whole while they are short in all, and then cut", async () => {
  const send = await stage();
  const withUnknown = (count: number, length: number) => ({
    metadata: { name: "w" },
    ...Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}${"x".repeat(length)}`, 1])),
  });
  const dry = `${MAPS}?dryRun=All`;
  assert.equal((await send("POST", dry, JSON_TYPE, withUnknown(100, 0))).warnings.length, 100);
  const { warnings } = await send("POST", dry, JSON_TYPE, withUnknown(5000, 300));
  assert.ok(warnings.join("").length < 6000, `${warnings.length} warnings`);
  assert.equal(warnings[0], `299 - "${`unknown field \\"k0${"x".repeat(300)}`.slice(0, 257)}"`);
});

test("a response has the first of very many errors, and the number of the others", async () => {
  const send = await stage();
  const owner = (i: number) => ({ apiVersion: "v1", kind: "Pod", name: `p${i}`, uid: `u${i}`, controller: true });
  const ownerReferences = Array.from({ length: 5000 }, (_, i) => owner(i));
  const { status, message, details } = await send("POST", MAPS, JSON_TYPE, {
    metadata: { name: "o", ownerReferences },
  });
  assert.equal(status, 422);
  assert.match(
    message!,
    /Only one reference can have Controller set to true. Found "true" in references for Pod\/p0 and/,
  );
  assert.match(message!, /, and \d+ more errors\]$/);
  assert.ok(details!.causes!.length < 10);
});

test("an object with as many errors as it may have parts is invalid, not an error of the server", async () => {
  const send = await stage();
  const labels = Object.fromEntries(Array.from({ length: 11_900 }, (_, i) => [`!${i}`, ""]));
  assert.equal((await send("POST", MAPS, JSON_TYPE, { metadata: { name: "o", labels } })).status, 422);
  const ports = `[${"{},".repeat(30_000)}{}]`;
  const service = `{"metadata":{"name":"s"},"spec":{"ports":${ports}}}`;
  assert.equal((await send("POST", "/api/v1/namespaces/default/services", JSON_TYPE, service)).status, 422);
});

const many = (count: number, value: unknown = "") =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index.toString(36)}`, value]));

test("a body of more parts than any object has is too large, in every form", async () => {
  const send = await stage();
  const parts = `[${"{},".repeat(300_000)}{}]`;
  const answers = [
    await send("POST", OPENS, JSON_TYPE, open("a", parts)),
    await send("PATCH", `${OPENS}/a`, PATCH.merge, `{"spec":${parts}}`),
    await send("PATCH", `${OPENS}/a?fieldManager=x`, APPLY, open("a", parts)),
  ];
  for (const { status, message } of answers) {
    assert.equal(status, 413);
    assert.match(
      message!,
      /^Request entity too large: \d+ keys, objects and lists, limit is 100000: divide the object$/,
    );
  }
  const yaml = await send("POST", OPENS, YAML_TYPE, `spec: ${parts}`);
  const message = "Request entity too large: the text has more than 60000 keys and values: divide the object";
  assert.deepEqual(pick(yaml), [413, message]);
});

test("the largest object that is legitimate passes, and one of many times its keys is too large for every verb", async () => {
  const send = await stage();
  const body = (name: string, keys: number, value = "") => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name },
    data: many(keys, value),
  });
  const value = "v".repeat(95);
  assert.equal((await send("POST", MAPS, JSON_TYPE, body("m", 10_000, value))).status, 201);
  assert.equal((await send("PUT", `${MAPS}/m`, JSON_TYPE, body("m", 10_000, "w"))).status, 200);
  assert.equal((await send("PATCH", `${MAPS}/m?fieldManager=x&force=true`, APPLY, body("m", 10_000, "x"))).status, 200);
  assert.equal((await send("PATCH", `${MAPS}/m`, PATCH.merge, { data: { a: "b" } })).status, 200);
  const tooLarge = /^Request entity too large: .* limit is (12000|100000): divide the object$/;
  for (const keys of [13_000, 180_000]) {
    const data = many(keys);
    const yaml = `kind: ConfigMap\nmetadata:\n  name: y\ndata:\n${Object.keys(data).map((key) => `  ${key}: ""\n`)}`;
    for (const [method, path, type, content] of [
      ["POST", `${MAPS}?dryRun=All`, JSON_TYPE, body("n", keys)],
      ["PUT", `${MAPS}/m`, JSON_TYPE, body("m", keys)],
      ["PATCH", `${MAPS}/m`, PATCH.merge, { data }],
      ["PATCH", `${MAPS}/m`, STRATEGIC, { data }],
      ["PATCH", `${MAPS}/m`, PATCH.json, JSON.stringify([{ op: "add", path: "/data", value: data }])],
      ["PATCH", `${MAPS}/m?fieldManager=x`, APPLY, body("m", keys)],
    ] as const) {
      const answer = await send(method, path, type, content);
      assert.equal(answer.status, 413, `${method} ${type}`);
      assert.match(answer.message!, tooLarge, `${method} ${type}`);
    }
    assert.ok([400, 413].includes((await send("POST", MAPS, YAML_TYPE, yaml)).status));
  }
});

test("an object cannot grow beyond the limit by patches that are small", async () => {
  const send = await stage();
  await send("POST", MAPS, JSON_TYPE, { metadata: { name: "m" }, data: many(11_990) });
  const more = Object.fromEntries(Object.keys(many(100)).map((key) => [`more-${key}`, ""]));
  const [, message] = pick(await send("PATCH", `${MAPS}/m`, PATCH.merge, { data: more }));
  assert.equal(message, "Request entity too large: maps of 12090 keys, limit is 12000: divide the object");
  const copies = JSON.stringify([{ op: "copy", from: "/data", path: "/metadata/annotations" }]);
  assert.equal((await send("PATCH", `${MAPS}/m`, PATCH.json, copies)).status, 413);
});

test("an update with managedFields of the size of the data is accepted, one with many times that is refused", async () => {
  const send = await stage();
  await send("POST", MAPS, JSON_TYPE, { metadata: { name: "m" }, data: many(11_000) });
  const fields = Object.fromEntries(Object.keys(many(11_000)).map((key) => [`f:${key}`, {}]));
  const managed = (manager: string) => ({
    manager,
    operation: "Update",
    apiVersion: "v1",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:data": fields },
  });
  const metadata = { name: "m", managedFields: [managed("a"), managed("b")] };
  assert.equal((await send("PUT", `${MAPS}/m`, JSON_TYPE, { metadata, data: many(11_000, "x") })).status, 200);
  metadata.managedFields.push(managed("c"));
  const { status, message } = await send("PUT", `${MAPS}/m`, JSON_TYPE, { metadata, data: many(11_000) });
  assert.equal(status, 413);
  assert.match(String(message), /managed fields of 66\d+ keys, objects and lists, limit is 50000/);
});

test("a custom resource definition of 1.5 MiB is accepted", async () => {
  const send = await stage();
  const names = { plural: "larges", singular: "large", kind: "Large", listKind: "LargeList" };
  const spec = { type: "object", properties: many(11_900, { type: "string", description: "d".repeat(80) }) };
  const openAPIV3Schema = { type: "object", properties: { spec } };
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }];
  const body = JSON.stringify({
    metadata: { name: "larges.example.com" },
    spec: { group: "example.com", scope: "Namespaced", names, versions },
  });
  assert.ok(body.length > 1_400_000, String(body.length));
  assert.equal((await send("POST", DEFINITIONS, JSON_TYPE, body)).status, 201);
});

test("a resource version beyond 64 bits is invalid", async () => {
  const send = await stage();
  const { status, message } = await send("GET", `${MAPS}?resourceVersion=${"9".repeat(30)}`, "");
  assert.equal(status, 400);
  assert.match(message!, /^invalid resource version: .*: value out of range$/);
});
