import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseExpression } from "../syntax/build-ast.ts";
import { escapeName, RESERVED_WORDS, unescapeName } from "./escape.ts";

const names = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."abZ09_-./".split("")), minLength: 1, maxLength: 12 }),
  fc.constantFrom(...RESERVED_WORDS),
);

test("an escaped name can be unescaped, and is an identifier", () => {
  fc.assert(
    fc.property(names, (name) => {
      const identifier = escapeName(name);
      if (identifier === undefined) return assert.match(name, /^[0-9]/);
      assert.equal(unescapeName(identifier), name);
      assert.deepEqual(parseExpression(`self.${identifier}`).issues, []);
    }),
    { numRuns: 1000 },
  );
});

test("two names are never escaped to the same identifier", () => {
  fc.assert(
    fc.property(names, names, (a, b) => {
      fc.pre(a !== b && escapeName(a) !== undefined);
      assert.notEqual(escapeName(a), escapeName(b));
    }),
    { numRuns: 1000 },
  );
});

test("names are escaped as in Kubernetes", () => {
  assert.equal(escapeName("a.b-c/d__e"), "a__dot__b__dash__c__slash__d__underscores__e");
  assert.equal(escapeName("namespace"), "__namespace__");
  assert.equal(escapeName("a_b"), "a_b");
  assert.equal(escapeName("$a"), undefined);
  assert.equal(unescapeName("__nothing__"), undefined);
});
