import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compareVersions } from "./resource-version.ts";

test("versions compare as whole numbers of any length", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 30n }), fc.bigInt({ min: 1n, max: 10n ** 30n }), (a, b) => {
      assert.equal(Math.sign(compareVersions(String(a), String(b))), a < b ? -1 : a > b ? 1 : 0);
    }),
  );
  assert.ok(compareVersions("9", "10") < 0);
});

test("a missing version is the oldest", () => {
  assert.ok(compareVersions(undefined, "1") < 0);
  assert.ok(compareVersions("1", "") > 0);
  assert.equal(compareVersions(undefined, undefined), 0);
  assert.equal(compareVersions("", undefined), 0);
});
