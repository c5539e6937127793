import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, type JsonObject, type Schema } from "@konverge/core";
import fc from "fast-check";
import { applyJsonPatch, decodeJsonPatch, type JsonPatchOperation } from "./json-patch.ts";
import { applyMergePatch } from "./merge-patch.ts";
import { applyStrategicMergePatch } from "./strategic-merge.ts";

const key = fc.constantFrom("a", "b", "c", "__proto__", "constructor", "a/b", "m~n");
const scalar = fc.oneof(fc.string({ maxLength: 3 }), fc.integer({ min: -3, max: 3 }), fc.boolean());
const { object } = fc.letrec<{ value: unknown; object: JsonObject }>((tie) => ({
  value: fc.oneof({ depthSize: "small" }, scalar, tie("object"), fc.array(tie("value"), { maxLength: 3 })),
  object: fc
    .uniqueArray(fc.tuple(key, tie("value")), { maxLength: 4, selector: ([name]) => name })
    .map((entries) => Object.fromEntries(entries)),
}));

const refusal = (work: () => unknown): ApiError => {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof ApiError);
    return error;
  }
  return assert.fail("nothing was refused");
};

test("a merge patch without nulls applied to nothing, or to itself, is what it says", () => {
  fc.assert(
    fc.property(object, (it) => {
      assert.deepEqual(applyMergePatch({}, it), it);
      assert.deepEqual(applyMergePatch(it, it), it);
    }),
  );
});

test("what a merge patch does not touch is shared, and nothing is changed in place", () => {
  const before = { spec: { replicas: 1 }, metadata: { labels: { a: "1" } } };
  const after = applyMergePatch(before, { spec: { replicas: 2 } });
  assert.deepEqual(before.spec, { replicas: 1 });
  assert.equal(after.metadata, before.metadata);
});

test("a merge patch must be an object", () => {
  assert.equal(refusal(() => applyMergePatch({}, null)).message, "Invalid JSON Patch");
  const error = refusal(() => applyMergePatch({}, []));
  assert.equal(error.code, 400);
  assert.equal(
    error.message,
    "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
  );
});

const schema: Schema = {
  type: "object",
  properties: {
    labels: { type: "object", additionalProperties: { type: "string" } },
    items: {
      type: "array",
      go: { patch: { strategy: "merge", mergeKey: "name" } },
      items: { type: "object", properties: { name: { type: "string" }, size: { type: "integer" } } },
    },
    names: { type: "array", go: { patch: { strategy: "merge" } }, items: { type: "string" } },
    words: { type: "array", items: { type: "string" } },
  },
};
test("an item without its merge key is a server error that quotes it", () => {
  const error = refusal(() =>
    applyStrategicMergePatch({ items: [{ name: "a" }] }, { items: [{ size: 1, note: "x" }] }, schema),
  );
  assert.equal(error.code, 500);
  assert.equal(error.message, "map: map[note:x size:1] does not contain declared merge key: name");
});

test("a strategic patch with a malformed directive is a bad request", () => {
  for (const [patch, message] of [
    [{ $deleteFromPrimitiveList: ["a"] }, "invalid patch format of primitive list"],
    [{ $setElementOrder: ["a"] }, "invalid patch format of setElementOrder list"],
    [{ $retainKeys: "names" }, "invalid patch format of retainKeys"],
    [{ $retainKeys: ["names"], words: ["a"] }, "invalid patch format of retainKeys"],
  ] as const) {
    const error = refusal(() => applyStrategicMergePatch({ names: ["a"] }, patch, schema));
    assert.deepEqual([error.code, error.message], [400, message]);
  }
});

test("lists of lists cannot be merged", () => {
  const error = refusal(() => applyStrategicMergePatch({ names: [["a"]] }, { names: [["b"]] }, schema));
  assert.equal(error.code, 422);
});

test("a failed step of a JSON patch is a 422 without details, and the reason is its cause", () => {
  const error = refusal(() => applyJsonPatch({ a: 1 }, [{ op: "test", path: "/a", value: 2 }]));
  assert.equal(error.code, 422);
  assert.equal(error.reason, "Invalid");
  assert.equal(error.message, "the server rejected our request due to an error in our request");
  assert.equal((error.cause as Error).message, "testing value /a failed: test failed");
});

test("a JSON patch applies whole or not at all, and shares what it does not touch", () => {
  const before = { a: { x: 1 }, b: { y: 1 } };
  refusal(() =>
    applyJsonPatch(before, [
      { op: "replace", path: "/a/x", value: 2 },
      { op: "remove", path: "/c" },
    ]),
  );
  assert.deepEqual(before, { a: { x: 1 }, b: { y: 1 } });
  const after = applyJsonPatch(before, [{ op: "replace", path: "/a/x", value: 2 }]);
  assert.equal(after.b, before.b);
});

test("a copied value and its source change independently afterwards", () => {
  const after = applyJsonPatch<JsonObject>({ a: { x: 1 } }, [
    { op: "add", path: "/a/y", value: 1 },
    { op: "copy", from: "/a", path: "/b" },
    { op: "add", path: "/b/z", value: 1 },
    { op: "remove", path: "/a/x" },
  ]);
  assert.deepEqual(after, { a: { y: 1 }, b: { x: 1, y: 1, z: 1 } });
});

test("keys that JavaScript gives a meaning are plain keys", () => {
  const document = JSON.parse('{"data":{"__proto__":"1"}}') as JsonObject;
  const patched = applyJsonPatch(document, [
    { op: "add", path: "/data/constructor", value: "2" },
    { op: "test", path: "/data/toString" },
    { op: "replace", path: "/data/__proto__", value: "3" },
  ]);
  assert.equal(JSON.stringify(patched), '{"data":{"__proto__":"3","constructor":"2"}}');
});

test("a body that is no JSON patch is a bad request", () => {
  for (const [body, what] of [
    [{}, "object into Go value of type []handlers.jsonPatchOp"],
    [["x"], "string into Go value of type handlers.jsonPatchOp"],
    [[{ op: "add", path: 1 }], "number into Go struct field jsonPatchOp.path of type string"],
  ] as const) {
    const error = refusal(() => decodeJsonPatch(body));
    assert.deepEqual([error.code, error.message], [400, `error decoding patch: json: cannot unmarshal ${what}`]);
  }
});

test("fields that a JSON patch step does not have are reported, not refused", () => {
  const { operations, unknown } = decodeJsonPatch([{ op: "add", path: "/a", value: 1, note: "" }]);
  assert.equal(operations.length, 1);
  assert.deepEqual(unknown, ['json patch unknown field "[0].note"']);
});

test("ten thousand steps are allowed, one more is not", () => {
  const steps = Array.from({ length: 10_001 }, () => ({ op: "test", path: "/a" }));
  assert.equal(decodeJsonPatch(steps.slice(1)).operations.length, 10_000);
  const error = refusal(() => decodeJsonPatch(steps));
  assert.deepEqual(
    [error.code, error.reason, error.message],
    [
      413,
      "RequestEntityTooLarge",
      "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
    ],
  );
});

test("copies may add three mebibytes, and not a byte more", () => {
  const document = { a: "x".repeat(1024 * 1024 - 2) };
  const copies = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ op: "copy", from: "/a", path: `/b${i}` }) as const);
  assert.equal(Object.keys(applyJsonPatch(document, copies(3))).length, 4);
  const error = refusal(() =>
    applyJsonPatch(document, [
      ...copies(3),
      { op: "add", path: "/c", value: 1 },
      { op: "copy", from: "/c", path: "/d" },
    ]),
  );
  assert.deepEqual(
    [error.code, error.message, (error.cause as Error).message],
    [
      422,
      "the server rejected our request due to an error in our request",
      "Unable to complete the copy, the accumulated size increase of copy is 3145729, exceeding the limit 3145728",
    ],
  );
});

test("what a copy adds is counted as Go writes it", () => {
  const copy = (text: string) =>
    refusal(() => applyJsonPatch({ a: [text, "x".repeat(3 * 1024 * 1024)] }, [{ op: "copy", from: "/a", path: "/b" }]));
  const size = (text: string) => Number(/copy is (\d+)/.exec((copy(text).cause as Error).message)![1]);
  const bare = size("");
  for (const [text, bytes] of [
    ["ü", 2],
    ["<", 6],
    ["\u2028", 6],
    ["\n", 2],
  ] as const) {
    assert.equal(size(text) - bare, bytes, JSON.stringify(text));
  }
});

test("copies that double an object end before it is too large", () => {
  const doubling = Array.from({ length: 60 }, (_, i) => ({ op: "copy", from: "/a", path: `/a/b${i}` }) as const);
  assert.equal(refusal(() => applyJsonPatch({ a: {} }, doubling)).code, 422);
});

test("a patch cannot nest an object deeper than a body may be", () => {
  const deep = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}{}${"}".repeat(levels)}`) as JsonObject;
  const path = "/a".repeat(400);
  assert.equal(refusal(() => applyJsonPatch(deep(400), [{ op: "add", path, value: deep(400) }])).code, 422);
  const deeper = Array.from({ length: 12 }, () => ({ op: "move", from: "/a", path: "/b" }) as const);
  assert.equal(refusal(() => applyJsonPatch(deep(400), [{ op: "copy", from: "/a", path }, ...deeper])).code, 422);
});

test("a long list is changed like a short one", () => {
  const at = fc.integer({ min: 0, max: 8000 });
  type Change = [step: JsonPatchOperation, change: (list: unknown[], document: JsonObject) => unknown];
  const change: fc.Arbitrary<Change> = fc.oneof(
    at.map((i): Change => [{ op: "add", path: `/list/${i}`, value: -i }, (list) => list.splice(i, 0, -i)]),
    at.map((i): Change => [{ op: "remove", path: `/list/${i}` }, (list) => list.splice(i, 1)]),
    at.map((i): Change => [{ op: "replace", path: `/list/${i}`, value: "x" }, (list) => list.splice(i, 1, "x")]),
    fc
      .tuple(at, at)
      .map(
        ([from, to]): Change => [
          { op: "move", from: `/list/${from}`, path: `/list/${to}` },
          (list) => list.splice(to, 0, ...list.splice(from, 1)),
        ],
      ),
    fc
      .tuple(at, at)
      .map(
        ([from, to]): Change => [
          { op: "copy", from: `/list/${from}`, path: `/list/${to}` },
          (list) => list.splice(to, 0, list[from]),
        ],
      ),
    fc.constantFrom<Change>(
      [{ op: "add", path: "/list/-", value: 1 }, (list) => list.push(1)],
      [{ op: "copy", from: "/list", path: "/other" }, (list, document) => (document["other"] = [...list])],
      [{ op: "copy", from: "/list", path: "/list/3" }, (list) => list.splice(3, 0, [...list])],
    ),
  );
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
      const list: unknown[] = Array.from({ length: 9000 }, (_, i) => i);
      const expected: JsonObject = { list: [...list] };
      for (const [, make] of changes) make(expected["list"] as unknown[], expected);
      const steps = changes.map(([step]) => step);
      assert.deepEqual(
        applyJsonPatch<JsonObject>({ list }, [...steps, { op: "test", path: "", value: expected }]),
        expected,
      );
      assert.equal(list.length, 9000);
    }),
  );
});
