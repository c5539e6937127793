import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { deepCopy } from "./copy.ts";
import { deepFreeze } from "./freeze.ts";
import { WholeFloat } from "./json.ts";

function sharesPart(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || a === null || typeof b !== "object" || b === null) return false;
  if (a === b) return true;
  return Object.keys(a).some((key) => sharesPart(Reflect.get(a, key), Reflect.get(b, key)));
}

test("a copy is equal and shares nothing", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const copy = deepCopy(value);
      assert.deepEqual(copy, value);
      assert.ok(!sharesPart(copy, value));
    }),
  );
});

test("a key named __proto__ is copied like any other", () => {
  const value = JSON.parse('{"data":{"__proto__":{"a":1},"b":2}}');
  const copy = deepCopy(value);
  assert.equal(JSON.stringify(copy), JSON.stringify(value));
  assert.equal(Object.getPrototypeOf(copy.data), Object.prototype);
});

test("bigints and decimals are kept", () => {
  const value = { long: 2n ** 60n, decimal: new WholeFloat(1) };
  assert.deepEqual(deepCopy(value), value);
});

test("a frozen value cannot be changed anywhere", () => {
  const value = deepFreeze({ a: { b: [{ c: 1 }] } });
  assert.throws(() => {
    value.a.b[0]!.c = 2;
  }, TypeError);
  assert.throws(() => value.a.b.push({ c: 3 }), TypeError);
  assert.equal(deepFreeze("text"), "text");
  const copy = deepCopy(value);
  copy.a.b[0]!.c = 2;
  assert.equal(value.a.b[0]!.c, 1);
});
