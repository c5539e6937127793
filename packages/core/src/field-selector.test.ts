import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { exactFieldValue, type FieldRequirement, matchesFields, parseFieldSelector } from "./field-selector.ts";

test("terms are split at commas and at the first operator, and sorted", () => {
  assert.deepEqual(parseFieldSelector("status.phase!=Running,metadata.name==web"), [
    { field: "metadata.name", operator: "=", value: "web" },
    { field: "status.phase", operator: "!=", value: "Running" },
  ]);
  assert.deepEqual(parseFieldSelector(""), []);
  assert.deepEqual(parseFieldSelector(",,a=,"), [{ field: "a", operator: "=", value: "" }]);
  assert.deepEqual(parseFieldSelector(String.raw`a=b\,c\=d\\`), [{ field: "a", operator: "=", value: "b,c=d\\" }]);
});

for (const [text, message] of [
  ["a", "invalid selector: 'a'; can't understand 'a'"],
  ["b=1,a", "invalid selector: 'b=1,a'; can't understand 'a'"],
  ["a=b=c", "invalid field selector: unescaped character in value: 61"],
  [String.raw`a=\b`, String.raw`invalid field selector: invalid escape sequence: \b`],
  ["a=b\\", "invalid field selector: invalid escape sequence: \\"],
] as const) {
  test(`${JSON.stringify(text)} is refused in Kubernetes' words`, () => {
    assert.throws(() => parseFieldSelector(text), { name: "SelectorError", message });
  });
}

test("all terms must hold; a field that is missing is empty", () => {
  const selects = (text: string, fields: Record<string, string>) => matchesFields(parseFieldSelector(text), fields);
  const pod = { "metadata.name": "web", "status.phase": "Running" };
  assert.ok(selects("", pod));
  assert.ok(selects("metadata.name=web,status.phase!=Failed", pod));
  assert.ok(!selects("metadata.name=web,status.phase!=Running", pod));
  assert.ok(selects("spec.nodeName=", pod));
  assert.ok(!selects("spec.nodeName!=", pod));
  assert.equal(exactFieldValue(parseFieldSelector("metadata.name=web"), "metadata.name"), "web");
  assert.equal(exactFieldValue(parseFieldSelector("metadata.name!=web"), "metadata.name"), undefined);
});

const printed = ({ field, operator, value }: FieldRequirement) =>
  `${field}${operator}${value.replace(/[\\,=]/g, "\\$&")}`;

test("values may hold anything if backslash, comma and equals sign are escaped", () => {
  const requirement: fc.Arbitrary<FieldRequirement> = fc.record(
    {
      field: fc.constantFrom("metadata.name", "spec.nodeName", "status.phase"),
      operator: fc.constantFrom("=" as const, "!=" as const),
      value: fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom("\\", ",", "=", "!", "x") })),
    },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(fc.array(requirement), (requirements) => {
      const terms = requirements.map(printed);
      const sorted = [...terms.keys()].sort((a, b) => (terms[a]! < terms[b]! ? -1 : 1)).map((i) => requirements[i]!);
      assert.deepEqual(parseFieldSelector(terms.join(",")), sorted);
    }),
  );
});
