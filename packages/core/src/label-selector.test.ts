import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  formatLabelRequirements,
  formatLabelSelector,
  type LabelRequirement,
  type LabelSelector,
  labelRequirement,
  matchesLabels,
  requirementsOf,
  SelectorError,
  selectsLabels,
  sortLabelRequirements,
} from "./label-selector.ts";
import { parseLabelSelector } from "./label-selector-parser.ts";

/** How labels.Parse of apimachinery 0.36 prints each selector. */
const CANONICAL: [text: string, printed: string][] = [
  ["", ""],
  ["  ", ""],
  ["a=b", "a=b"],
  ["a == b", "a==b"],
  ["b=1,a!=2", "a!=2,b=1"],
  ["a=", "a="],
  ["a=,b", "a=,b"],
  ["e in (y, x)", "e in (x,y)"],
  ["e in (x,x)", "e in (x)"],
  ["e in (,x)", "e in (,x)"],
  ["e in ()", "e in ()"],
  ["e notin (in,notin)", "e notin (in,notin)"],
  ["!f,g", "!f,g"],
  ["h>5,i<3", "h>5,i<3"],
  ["in in (in)", "in in (in)"],
  ["x.io/y=Z_1", "x.io/y=Z_1"],
];

test("selectors are parsed and printed in canonical form", () => {
  for (const [text, printed] of CANONICAL)
    assert.equal(formatLabelRequirements(parseLabelSelector(text)), printed, text);
});

const KEY =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

for (const [text, message] of [
  [",", "found ',', expected: !, identifier, or 'end of string'"],
  ["a,", "found '', expected: identifier after ','"],
  ["a=b c", "found 'c', expected: ',' or 'end of string'"],
  ["!a=b", "found '=', expected: ',' or 'end of string'"],
  ["!", "unable to parse requirement: found '', expected: identifier"],
  ["a=(", "unable to parse requirement: found '(', expected: identifier"],
  ["a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
  ["a in b", "unable to parse requirement: found 'b' expected: '('"],
  ["a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"],
  ["a in (b", "unable to parse requirement: found '', expected: ',' or ')'"],
  ["a in (b,=)", "unable to parse requirement: found '=', expected: ',', or identifier"],
  ["-a=b", `unable to parse requirement: <nil>: Invalid value: "-a": ${KEY}`],
  ["a=b_", `unable to parse requirement: values[0][a]: Invalid value: "b_": ${VALUE}`],
  [
    "a>x",
    `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`,
  ],
] as const) {
  test(`${JSON.stringify(text)} is refused in Kubernetes' words`, () => {
    assert.throws(
      () => parseLabelSelector(text),
      (error) => error instanceof SelectorError && error.message === message,
    );
  });
}

test("each operator selects what it says", () => {
  const selects = (text: string, labels: Record<string, string>) => matchesLabels(parseLabelSelector(text), labels);
  assert.ok(selects("", {}));
  assert.ok(selects("a=1,b", { a: "1", b: "" }));
  assert.ok(!selects("a=1", {}));
  assert.ok(selects("a!=1", {}));
  assert.ok(selects("a notin (1,2)", { a: "3" }));
  assert.ok(!selects("a in (1,2)", { a: "3" }));
  assert.ok(selects("!a", { b: "1" }));
  assert.ok(!selects("!a", { a: "" }));
  assert.ok(selects("a>9", { a: "10" }));
  assert.ok(selects("a>9007199254740992", { a: "9007199254740993" }));
  assert.ok(!selects("a<9", { a: "x" }));
  assert.ok(!selects("a<9", {}));
  assert.ok(!selects("constructor", {}), "what every JavaScript object inherits is no label");
});

test("a selector object means what its text means; a missing one selects nothing", () => {
  const selector: LabelSelector = {
    matchLabels: { tier: "web" },
    matchExpressions: [
      { key: "env", operator: "In", values: ["prod", "dev"] },
      { key: "old", operator: "DoesNotExist" },
      { key: "app", operator: "Exists" },
      { key: "env", operator: "NotIn", values: ["test"] },
    ],
  };
  const text = "app,env in (dev,prod),env notin (test),!old,tier=web";
  assert.equal(formatLabelSelector(selector), text);
  assert.ok(selectsLabels(selector, { tier: "web", env: "dev", app: "x" }));
  assert.ok(!selectsLabels(selector, { tier: "web", env: "dev", app: "x", old: "" }));
  assert.ok(selectsLabels({}, { any: "thing" }));
  assert.ok(!selectsLabels(undefined, {}));
  assert.equal(formatLabelSelector(undefined), "<none>");
  assert.equal(formatLabelSelector({ matchLabels: { "-": "" } }), "<error>");
});

test("a selector object that is not valid says why", () => {
  const refused = (matchExpressions: object[], message: string) =>
    assert.throws(() => requirementsOf({ matchExpressions } as LabelSelector), { name: "SelectorError", message });
  refused([{ key: "a", operator: "Gt", values: ["1"] }], '"Gt" is not a valid label selector operator');
  refused(
    [{ key: "a", operator: "In" }],
    "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
  );
  refused(
    [{ key: "-", operator: "Exists", values: ["b"] }],
    `[key: Invalid value: "-": ${KEY}, values: Invalid value: ["b"]: values set must be empty for exists and does not exist]`,
  );
});

const key = fc.constantFrom("a", "b", "in", "notin", "x.io/y", "Z_9");
const value = fc.constantFrom("", "1", "v_1.x", "in", "notin");
const requirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
  fc
    .tuple(key, fc.constantFrom("=" as const, "==" as const, "!=" as const), value)
    .map(([k, o, v]) => labelRequirement(k, o, [v])),
  fc
    .tuple(key, fc.constantFrom("in" as const, "notin" as const), fc.uniqueArray(value, { minLength: 1 }))
    .map(([k, o, v]) => labelRequirement(k, o, v.sort())),
  fc.tuple(key, fc.constantFrom("exists" as const, "!" as const)).map(([k, o]) => labelRequirement(k, o)),
  fc
    .tuple(key, fc.constantFrom("gt" as const, "lt" as const), fc.nat())
    .map(([k, o, v]) => labelRequirement(k, o, [String(v)])),
);

test("what is printed parses to the same requirements", () => {
  fc.assert(
    fc.property(fc.array(requirement, { maxLength: 6 }), (requirements) => {
      const sorted = sortLabelRequirements(requirements);
      assert.deepEqual(parseLabelSelector(formatLabelRequirements(sorted)), sorted);
    }),
  );
});

test("a negated requirement selects exactly what the other does not", () => {
  const opposites = { in: "notin", "=": "!=", exists: "!" } as const;
  fc.assert(
    fc.property(
      fc.constantFrom("in" as const, "=" as const, "exists" as const),
      key,
      value,
      fc.dictionary(key, value),
      (operator, k, v, labels) => {
        const values = operator === "exists" ? [] : [v];
        assert.notEqual(
          matchesLabels([labelRequirement(k, operator, values)], labels),
          matchesLabels([labelRequirement(k, opposites[operator], values)], labels),
        );
      },
    ),
  );
});
