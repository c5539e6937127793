/** Rules that may cost too much, or do. */
import type { Schema } from "@konverge/core";
import type { SchemaCase } from "./schemas.ts";

const rule = (...texts: string[]): Pick<Schema, "x-kubernetes-validations"> => ({
  "x-kubernetes-validations": texts.map((text) => ({ rule: text })),
});
const root = (spec: Schema): Schema => ({ type: "object", properties: { spec } });
const strings: Schema = { type: "array", items: { type: "string" } };
const quadratic = "self.all(x, self.all(y, x == y))";

/** Each has a CRD to itself, because what all rules may cost together is limited, too. */
export const LIMITS: readonly SchemaCase[] = [
  { name: "a loop in a loop over an unbounded list", isRoot: true, schema: root({ ...strings, ...rule(quadratic) }) },
  {
    name: "a loop in a loop over a long list",
    isRoot: true,
    schema: root({ ...strings, maxItems: 100_000, ...rule(quadratic) }),
  },
  {
    name: "a loop in a loop over a list that is just too long",
    isRoot: true,
    schema: root({ type: "array", maxItems: 1300, items: { type: "integer" }, ...rule(quadratic) }),
  },
  {
    name: "a loop in a loop over a short list",
    isRoot: true,
    schema: root({ type: "array", maxItems: 500, items: { type: "integer" }, ...rule(quadratic) }),
  },
  {
    name: "a rule of the items of an unbounded list",
    isRoot: true,
    schema: root({ type: "array", items: { type: "string", maxLength: 100_000, ...rule("self.matches('^[a-z]*$')") } }),
  },
  {
    name: "a rule of the items of lists in lists",
    isRoot: true,
    schema: root({
      type: "array",
      maxItems: 1000,
      items: { type: "array", maxItems: 1000, items: { type: "integer", ...rule("self in [1, 2, 3]") } },
    }),
  },
  {
    name: "a regular expression on an unbounded string",
    isRoot: true,
    schema: root({ type: "string", ...rule("self.matches('^(a|b|c|d|e)*(f|g|h|i|j)*$')", "self.contains(self)") }),
  },
  {
    name: "rules that are too expensive only together",
    isRoot: true,
    schema: root({
      type: "array",
      maxItems: 1000,
      items: { type: "integer" },
      ...rule(...Array.from({ length: 30 }, (_, i) => `self.all(x, self.all(y, x != y || x != ${i}))`)),
    }),
  },
  {
    name: "an expensive message",
    isRoot: true,
    schema: root({
      ...strings,
      "x-kubernetes-validations": [
        { rule: "size(self) < 10", messageExpression: "self.map(x, self.map(y, x + y).join(',')).join(',')" },
      ],
    }),
  },
  {
    name: "a rule that costs too much on a long list",
    isRoot: true,
    schema: root({
      type: "array",
      maxItems: 1000,
      items: { type: "integer" },
      ...rule("self.all(x, self.all(y, x + y >= 0))"),
    }),
    created: [{ spec: [1, 2] }, { spec: Array.from({ length: 900 }, () => 1) }],
  },
  {
    name: "rules that cost too much together",
    isRoot: true,
    schema: root({
      type: "array",
      maxItems: 500,
      items: { type: "integer" },
      ...rule(...Array.from({ length: 12 }, (_, i) => `self.all(x, self.all(y, x + y >= -${i}))`)),
    }),
    created: [{ spec: [1, 2] }, { spec: Array.from({ length: 400 }, () => 1) }],
  },
  {
    name: "maps without a limit",
    isRoot: true,
    schema: root({
      type: "object",
      additionalProperties: { type: "object", additionalProperties: { type: "string", ...rule("self != ''") } },
    }),
  },
];
