import assert from "node:assert/strict";
import { test } from "node:test";
import { stringifyJson } from "@konverge/core";
import { builtinSchema } from "@konverge/kinds";
import fc from "fast-check";
import type { Codec } from "./codec.ts";
import { customCodec } from "./custom.ts";
import { DecodeError } from "./decode-error.ts";
import { parseJsonText } from "./json-text.ts";
import { typedCodec } from "./typed.ts";
import { parseYamlText } from "./yaml-text.ts";

const DEPLOYMENT = { group: "apps", version: "v1", kind: "Deployment" };
const deployments = typedCodec("apps.v1.Deployment", DEPLOYMENT, () => builtinSchema("apps", "v1", "Deployment"));
const LEASE = { group: "coordination.k8s.io", version: "v1", kind: "Lease" };
const leases = typedCodec("coordination.v1.Lease", LEASE, () => builtinSchema("coordination.k8s.io", "v1", "Lease"));

const decode = (codec: Codec, text: string) => codec.decode(parseJsonText(text).value);
const failure = (codec: Codec, text: string) => {
  try {
    decode(codec, text);
  } catch (error) {
    assert.ok(error instanceof DecodeError);
    return error.message;
  }
  return assert.fail("it was read");
};

test("an object is written as Go would write its struct: fields in order, structs that are no pointers always there", () => {
  const { object } = decode(
    deployments,
    '{"spec":{"selector":{},"replicas":1},"metadata":{"name":"a"},"kind":"Deployment"}',
  );
  assert.equal(
    stringifyJson(deployments.canonical(object)),
    '{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"a"},"spec":{"replicas":1,"selector":{},"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}}',
  );
});

test("fields that the kind does not know are named, and not kept", () => {
  const { object, unknown } = decode(
    deployments,
    '{"spec":{"replcas":1,"template":{"spec":{"containers":[{"nam":"x"}]}}}}',
  );
  assert.deepEqual([...unknown].sort(), ["spec.replcas", "spec.template.spec.containers[0].nam"]);
  assert.ok(!stringifyJson(deployments.canonical(object)).includes("replcas"));
});

test("values of the wrong type are refused in the words of Go's decoder", () => {
  assert.equal(
    failure(deployments, '{"spec":{"replicas":"one"}}'),
    "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
  );
  assert.equal(
    failure(deployments, '{"spec":{"replicas":1.5}}'),
    "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
  );
  assert.match(failure(leases, '{"spec":{"renewTime":"yesterday"}}'), /^parsing time "yesterday" as /);
});

test("quantities, times and long integers come out in one form, whatever they came in as", () => {
  const { object } = decode(
    deployments,
    '{"spec":{"template":{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"0.5","memory":"1024Ki"}}}]}}}}',
  );
  assert.match(stringifyJson(deployments.canonical(object)), /"limits":\{"cpu":"500m","memory":"1Mi"\}/);
  const { object: lease } = decode(
    leases,
    '{"metadata":{"generation":9007199254740993},"spec":{"renewTime":"2026-01-02T03:04:05.000006+01:00"}}',
  );
  const text = stringifyJson(leases.canonical(lease));
  assert.match(text, /"renewTime":"2026-01-02T02:04:05.000006Z"/);
  assert.match(text, /"generation":9007199254740993/);
});

test("a key that stands twice is found, and where the text breaks off is said as Go's scanner says it", () => {
  assert.deepEqual(
    parseJsonText('{"a":1,"b":{"c":1,"c":2}}').duplicates.map(({ problem }) => problem),
    ['duplicate field "b.c"'],
  );
  assert.throws(() => parseJsonText('{"a":'), { name: "DecodeError", message: "unexpected end of JSON input" });
  assert.throws(() => parseJsonText("{'a':1}"), /invalid character '\\'' looking for beginning of object key string/);
});

test("YAML is read as JSON would be: what looks like a number or a boolean is one", () => {
  const { value } = parseYamlText("a: 1\nb: yes\nc: 'yes'\nd: 1.0\n");
  assert.equal(stringifyJson(value), '{"a":1,"b":true,"c":"yes","d":1}');
});

test("custom resources lose what their schema does not have, get its defaults, and are written by the alphabet", () => {
  const spec = {
    type: "object",
    properties: { size: { type: "integer", default: 3 }, a: { type: "string" } },
  } as const;
  const codec = customCodec({ type: "object", properties: { spec } });
  const { object, unknown } = codec.decode({
    kind: "T",
    apiVersion: "g/v1",
    metadata: { name: "x" },
    spec: { zz: 1, a: "b" },
  });
  codec.applyDefaults(object);
  assert.deepEqual(unknown, ["spec.zz"]);
  assert.equal(
    stringifyJson(codec.canonical(object)),
    '{"apiVersion":"g/v1","kind":"T","metadata":{"name":"x"},"spec":{"a":"b","size":3}}',
  );
});

test("JSON that is sent as YAML is read alike, also where it is wrong", () => {
  const alike = (json: string, yaml: string) => assert.deepEqual(parseYamlText(json).value, parseYamlText(yaml).value);
  alike('{"a": {"b": [1, "two", null, true]}}', "a: {b: [1, two, null, true]}");
  alike(
    '{"long": 9007199254740993, "whole": 1.0, "t": "2026-01-01T00:00:00Z"}',
    'long: 9007199254740993\nwhole: 1\nt: "2026-01-01T00:00:00Z"',
  );
  assert.deepEqual(parseYamlText('{"a": 1}').duplicates, []);
  assert.deepEqual(parseYamlText('{"a": 1, "a": 2}').duplicates, [
    { problem: 'yaml: unmarshal errors:\n  line 1: key "a" already set in map', at: 0 },
  ]);
  assert.throws(() => parseYamlText('{"a": '), /^DecodeError: yaml: line 1: did not find expected node content$/);
  assert.deepEqual(parseYamlText("{a: 1}").value, { a: 1 });
});

test("a key that stands twice is found among whatever strings", () => {
  const text = fc.string({ unit: fc.constantFrom('"', "\\", ":", "{", "}", ",", "a") });
  fc.assert(
    fc.property(text, text, (name, value) => {
      const field = `${JSON.stringify(`b${name}`)}:${JSON.stringify(value)}`;
      assert.equal(parseJsonText(`{"a":[{${field}}],"c":1}`).duplicates.length, 0);
      assert.deepEqual(
        parseJsonText(`{"a":1,${field},"a":2}`).duplicates.map(({ problem }) => problem),
        ['duplicate field "a"'],
      );
    }),
  );
});

test("what is in canonical form stays the same object, and what is not is put into it", () => {
  const { object } = decode(deployments, '{"metadata":{"name":"a","labels":{"x":"1","b":"2"}},"spec":{"replicas":1}}');
  const once = deployments.canonical(object);
  assert.equal(deployments.canonical(once)["spec"], once["spec"]);
  const spec = once["spec"] as Record<string, unknown>;
  const shuffled = { ...once, spec: { strategy: spec["strategy"], ...spec, paused: false } };
  assert.equal(stringifyJson(deployments.canonical(shuffled)), stringifyJson(once));
});

test("times are checked, however they are written", () => {
  const timeOf = (time: string) => {
    const { object } = decode(deployments, `{"metadata":{"creationTimestamp":"${time}"}}`);
    return object.metadata.creationTimestamp;
  };
  assert.equal(timeOf("2026-02-28T23:59:59Z"), "2026-02-28T23:59:59Z");
  assert.equal(timeOf("2026-02-28T23:59:59.5+01:00"), "2026-02-28T22:59:59Z");
  for (const [time, why] of [
    ["2026-13-01T00:00:00Z", "month out of range"],
    ["2026-02-30T00:00:00Z", "day out of range"],
    ["2026-01-01T24:00:00Z", "hour out of range"],
  ] as const) {
    assert.match(failure(deployments, `{"metadata":{"creationTimestamp":"${time}"}}`), new RegExp(why));
  }
});
