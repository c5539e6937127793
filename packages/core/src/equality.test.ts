import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { deepCopy } from "./copy.ts";
import { deepEqual } from "./equality.ts";
import { toGoJson } from "./go-text.ts";
import { WholeFloat } from "./json.ts";

test("order of keys and the kind of number make no difference; everything else does", () => {
  assert.ok(deepEqual({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1n }));
  assert.ok(deepEqual(new WholeFloat(1), 1));
  assert.ok(deepEqual({ a: undefined }, {}));
  assert.ok(!deepEqual({ a: null }, {}));
  assert.ok(!deepEqual([1, 2], [2, 1]));
  assert.ok(!deepEqual([], {}));
  assert.ok(!deepEqual({ a: 1 }, { a: 1, b: 1 }));
  assert.ok(!deepEqual({ toString: 1 }, {}));
  assert.ok(!deepEqual("1", 1));
  assert.ok(!deepEqual(0, false));
  assert.ok(!deepEqual(2n ** 53n + 1n, 2 ** 53));
  assert.ok(!deepEqual(null, {}));
});

test("two values are equal exactly when their sorted JSON is", () => {
  // Few keys and values, so that equal pairs are common.
  const value = fc.letrec<{ any: unknown }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(null, 0, 1, "", true),
      fc.array(tie("any"), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom("a", "b", "toString"), tie("any"), { maxKeys: 2, noNullPrototype: true }),
    ),
  })).any;
  fc.assert(
    fc.property(value, value, (a, b) => {
      assert.equal(deepEqual(a, b), toGoJson(a) === toGoJson(b));
      assert.ok(deepEqual(a, deepCopy(a)));
    }),
    { numRuns: 500 },
  );
});
