import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parse } from "yaml";
import { yamlText } from "../page/yaml-lines.ts";

const scalar = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom(
    "yes",
    "~",
    "1e3",
    "0x1f",
    "- a",
    "a: b",
    "# no",
    "2026-01-01",
    "12:30:45",
    "a #b",
    "&x",
    "*y",
    "%z",
    "=",
    "<<",
    ".inf",
    "|",
    "",
  ),
);
const value = fc.letrec((tie) => ({
  any: fc.oneof({ maxDepth: 4 }, scalar, tie("list"), tie("record")),
  list: fc.array(tie("any"), { maxLength: 4 }),
  record: fc.dictionary(
    fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom("a", "yes", "1", "x y", "a:", "# a")),
    tie("any"),
    {
      maxKeys: 4,
      noNullPrototype: true,
    },
  ),
}));

test("the YAML of an object parses to the same object", () => {
  fc.assert(
    fc.property(value.record, (record) => {
      if (Object.keys(record as object).includes("__proto__")) return;
      assert.deepEqual(parse(yamlText(record)) ?? {}, record);
    }),
    { numRuns: 300 },
  );
});
