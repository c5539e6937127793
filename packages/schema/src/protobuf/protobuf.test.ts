import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ApiError, type JsonObject, parseJson, type Schema } from "@konverge/core";
import fc from "fast-check";
import { encodeProtobuf, sealEnvelope } from "../../test/protobuf/encode.ts";
import { MAGIC, openEnvelope } from "./envelope.ts";
import { protobufName } from "./object-name.ts";
import { decodeProtobuf, decodeRaw } from "./protobuf-body.ts";

const recorded = parseJson(
  readFileSync(new URL("../../test/generated/protobuf/objects.json", import.meta.url), "utf8"),
) as [body: string, object: JsonObject][];

const refusal = (work: () => unknown): ApiError => {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof ApiError, String((error as Error).stack));
    return error;
  }
  return assert.fail("nothing was refused");
};

test("bodies that Go wrote are read as the JSON that Go writes", () => {
  for (const [body, object] of recorded) {
    assert.deepEqual(decodeProtobuf(Buffer.from(body, "base64")), object);
  }
});

test("objects are written as Go writes them, byte for byte", () => {
  for (const [body, object] of recorded) {
    // JSON does not distinguish nil bytes from empty ones.
    if (object["kind"] === "ConfigMap" || object["kind"] === "Secret") continue;
    assert.equal(encodeProtobuf(object).toString("base64"), body);
  }
});

test("zero values are left out of JSON where the field says so, and are there where it does not", () => {
  const pod = decodeProtobuf(encodeProtobuf({ apiVersion: "v1", kind: "Pod", metadata: {} }));
  assert.deepEqual(pod, { apiVersion: "v1", kind: "Pod", metadata: {}, spec: { containers: null }, status: {} });
});

test("a pointer keeps its zero, other fields do not", () => {
  const spec = { replicas: 0, minReadySeconds: 0 };
  const body = encodeProtobuf({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "x" }, spec });
  const read = decodeProtobuf(body)["spec"] as JsonObject;
  assert.equal(read["replicas"], 0);
  assert.ok(!("minReadySeconds" in read));
});

test("integers beyond 2^53 keep their digits", () => {
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { generation: 9007199254740993n } };
  assert.deepEqual(decodeProtobuf(encodeProtobuf(object)), object);
  const negative = { ...object, metadata: { generation: -9223372036854775808n } };
  assert.deepEqual(decodeProtobuf(encodeProtobuf(negative)), negative);
});

test("options come under the group and version of what they are for", () => {
  for (const apiVersion of ["v1", "apps/v1", "meta.k8s.io/v1"]) {
    const options = {
      apiVersion,
      kind: "DeleteOptions",
      gracePeriodSeconds: 0,
      preconditions: { uid: "u" },
      propagationPolicy: "Foreground",
    };
    assert.deepEqual(decodeProtobuf(encodeProtobuf(options)), options);
  }
});

test("a body that does not say its kind is of the kind that is expected", () => {
  const { raw } = openEnvelope(encodeProtobuf({ apiVersion: "v1", kind: "Namespace", metadata: { name: "x" } }));
  const anonymous = sealEnvelope({ apiVersion: "", kind: "", raw });
  assert.match(refusal(() => decodeProtobuf(anonymous)).message, /Kind/);
  const read = decodeProtobuf(anonymous, { default: { group: "", version: "v1", kind: "Namespace" } });
  assert.deepEqual(read, { apiVersion: "v1", kind: "Namespace", metadata: { name: "x" }, spec: {}, status: {} });
});

test("numbers in lists may come packed, and unknown fields are skipped", () => {
  const schema: Schema = {
    type: "object",
    properties: {
      numbers: {
        type: "array",
        items: { type: "integer", format: "int32" },
        go: { proto: { field: 1, wire: "varint" }, omitEmpty: true },
      },
      ratio: { type: "number", go: { proto: { field: 2, wire: "fixed64" }, omitEmpty: true } },
    },
  };
  const packed = [0x0a, 0x0b, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
  const plain = [0x08, 0x07];
  const float32 = [0x15, 0x00, 0x00, 0x00, 0x3f];
  const unknown = [0x78, 0x01, 0x72, 0x01, 0x00, 0x69, 0, 0, 0, 0, 0, 0, 0, 0];
  assert.deepEqual(decodeRaw(Buffer.from([...packed, ...unknown, ...plain, ...float32]), schema), {
    numbers: [1, -1, 7],
    ratio: 0.5,
  });
});

test("what is no protobuf body is refused with the API server's words", () => {
  const message = (body: Uint8Array) => {
    const error = refusal(() => decodeProtobuf(body));
    assert.equal(error.code, 400);
    return error.message;
  };
  assert.equal(message(Buffer.alloc(0)), "empty data");
  assert.equal(
    message(Buffer.from('{"kind":"Pod"}')),
    "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
  );
  assert.equal(message(MAGIC), "empty body");
  const frob = sealEnvelope({ apiVersion: "v1", kind: "Frob", raw: Buffer.alloc(0) });
  assert.equal(message(frob), 'no kind "Frob" is registered for version "v1"');
  const truncated = sealEnvelope({ apiVersion: "v1", kind: "Pod", raw: Buffer.from([0x0a, 0x7f]) });
  assert.equal(message(truncated), "unexpected EOF");
  const wrongWire = sealEnvelope({ apiVersion: "v1", kind: "Pod", raw: Buffer.from([0x08, 0x01]) });
  assert.equal(message(wrongWire), "proto: wrong wireType = 0 for field metadata");
  const endless = sealEnvelope({ apiVersion: "v1", kind: "Pod", raw: Buffer.alloc(12, 0xff) });
  assert.equal(message(endless), "proto: integer overflow");
});

test("a message nested without end is refused, not followed", () => {
  // CustomResourceDefinition.spec.versions.schema.openAPIV3Schema.not.not.not…
  let inner = Buffer.alloc(0);
  const varint = (value: number): number[] =>
    value < 128 ? [value] : [(value % 128) | 0x80, ...varint(Math.floor(value / 128))];
  const wrap = (field: number, content: Buffer) =>
    Buffer.concat([Buffer.from([...varint(field * 8 + 2), ...varint(content.length)]), content]);
  for (let i = 0; i < 3000; i++) inner = wrap(28, inner);
  const raw = wrap(2, wrap(7, wrap(4, wrap(1, inner))));
  const body = sealEnvelope({ apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", raw });
  assert.match(refusal(() => decodeProtobuf(body)).message, /exceeded max depth/);
});

test("damaged bodies are refused or read, never anything else", () => {
  const bodies = recorded.map(([body]) => Buffer.from(body, "base64")).filter((body) => body.length < 2000);
  fc.assert(
    fc.property(
      fc.constantFrom(...bodies),
      fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 4 }),
      fc.option(fc.nat()),
      (body, changes, cut) => {
        const damaged = Buffer.from(body);
        for (const [at, byte] of changes) damaged[4 + (at % (damaged.length - 4))] = byte;
        const length = cut === null ? damaged.length : 4 + (cut % (damaged.length - 4));
        try {
          decodeProtobuf(damaged.subarray(0, length));
        } catch (error) {
          assert.ok(error instanceof ApiError, String((error as Error).stack));
          assert.equal(error.code, 400);
        }
      },
    ),
    { numRuns: 500 },
  );
});

test("a body's name is read without knowing its kind", () => {
  const body = (metadata: JsonObject) => encodeProtobuf({ apiVersion: "v1", kind: "Pod", metadata, spec: {} });
  assert.deepEqual(protobufName(body({ name: "web", labels: { a: "b" } })), { name: "web", generateName: "" });
  assert.deepEqual(protobufName(body({ generateName: "web-" })), { name: "", generateName: "web-" });
  for (const [recordedBody, object] of recorded) {
    const { name = "" } = (object["metadata"] ?? {}) as { name?: string };
    assert.equal(protobufName(Buffer.from(recordedBody, "base64")).name, name, JSON.stringify(object["kind"]));
  }
});
