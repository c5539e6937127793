import assert from "node:assert/strict";
import { test } from "node:test";
import type { Schema } from "@konverge/core";
import fc from "fast-check";
import { checkRules } from "./check-rules.ts";
import { compileRule } from "./compile-rule.ts";
import { OBJECT_BUDGET, ruleErrors, validateRules } from "./validate-rules.ts";

const rules = (...texts: string[]) => ({ "x-kubernetes-validations": texts.map((rule) => ({ rule })) });
const counted: Schema = {
  type: "object",
  properties: { count: { type: "integer", ...rules("self < 3", "self >= oldSelf") }, name: { type: "string" } },
};
const resource: Schema = { type: "object", properties: { spec: counted } };

test("what an update leaves as it was is a warning, unless a rule is about the change", () => {
  const old = { spec: { count: 5, name: "a" } };
  const { errors, warnings } = validateRules(resource, { spec: { count: 5, name: "b" } }, old, { ratcheting: true });
  assert.deepEqual(errors, []);
  assert.deepEqual(warnings, ["spec.count: Invalid value: 5: failed rule: self < 3"]);
  const changed = validateRules(resource, { spec: { count: 4, name: "b" } }, old, { ratcheting: true });
  assert.deepEqual(
    changed.errors.map(({ message }) => message),
    ["Invalid value: 4: failed rule: self < 3", "Invalid value: 4: failed rule: self >= oldSelf"],
  );
  assert.deepEqual(changed.warnings, []);
});

test("without ratcheting, what an update leaves as it was is still wrong", () => {
  const object = { spec: { count: 5 } };
  assert.equal(validateRules(resource, object, object).errors.length, 1);
});

test("a value that is part of an object is found under its path", () => {
  const errors = ruleErrors(counted, { count: 5 }, undefined, { path: "spec.template", ratcheting: false });
  assert.deepEqual(errors, [
    { reason: "FieldValueInvalid", field: "spec.template.count", message: "Invalid value: 5: failed rule: self < 3" },
  ]);
});

test("rules share a budget, and when it is spent no more are run", () => {
  const loop = "self.all(x, x >= 0)";
  const schema: Schema = {
    type: "object",
    properties: { spec: { type: "array", items: { type: "integer" }, ...rules(loop, loop, "false") } },
  };
  const object = { spec: [1, 2, 3] };
  const { budget, errors } = validateRules(schema, object);
  assert.equal(errors.length, 1);
  const each = (OBJECT_BUDGET - budget) / 2;
  const stopped = validateRules(schema, object, undefined, { budget: Math.ceil(each * 1.5) });
  assert.deepEqual(
    stopped.errors.map(({ message }) => message),
    [
      'Invalid value: "array": validation failed due to running out of cost budget, no further validation rules will be run',
    ],
  );
  assert.equal(stopped.budget, -1);
});

test("rules that were there before may be expensive", () => {
  const schema: Schema = {
    type: "object",
    properties: { spec: { type: "array", items: { type: "string" }, ...rules("self.all(x, self.all(y, x == y))") } },
  };
  assert.ok(checkRules(schema).some(({ message }) => message.includes("estimated rule cost exceeds budget")));
  assert.ok(
    !checkRules(schema, { allowsExpensive: true }).some(({ message }) =>
      message.includes("estimated rule cost exceeds budget"),
    ),
  );
});

test("a single rule can be evaluated", () => {
  const { program } = compileRule("self.count > 1 && oldSelf.count > 0", counted);
  assert.deepEqual(program?.evaluate({ count: 2 }, { count: 1 }), { value: true, cost: 6 });
  assert.deepEqual(program?.evaluate({ count: 2 }, { count: 1 }, 3), {
    error: "operation cancelled: actual cost limit exceeded",
    cost: 4,
  });
  assert.equal(compileRule("self.count", counted).problem?.text, "must evaluate to bool but got int");
  assert.equal(
    compileRule("self.nothing", counted).problem?.text,
    "ERROR: <input>:1:5: undefined field 'nothing'\n | self.nothing\n | ....^",
  );
  const optional = compileRule("oldSelf.hasValue()", counted, { optionalOldSelf: true });
  assert.equal(optional.program?.evaluate({}).value, false);
  assert.equal(optional.program?.evaluate({}, {}).value, true);
});

test("an evaluation never spends more than one step beyond its limit, and says so", () => {
  const list: Schema = { type: "array", items: { type: "integer" } };
  const { program } = compileRule("self.all(x, self.exists(y, x == y))", list);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 8 }), fc.nat({ max: 300 }), (items, limit) => {
      const whole = program!.evaluate(items);
      const limited = program!.evaluate(items, undefined, limit);
      if (whole.cost <= limit) assert.deepEqual(limited, whole);
      else assert.equal(limited.error, "operation cancelled: actual cost limit exceeded");
      assert.ok(limited.cost <= limit + 5);
    }),
  );
});

test("data is left as it was", () => {
  const list: Schema = { type: "array", items: { type: "string" } };
  const { program } = compileRule("(self + ['z']).sort().map(x, x + '!').distinct()", list, { result: "any" });
  const data = Object.freeze(["b", "a", "b"]);
  assert.equal(program?.evaluate(data).error, undefined);
  assert.deepEqual(data, ["b", "a", "b"]);
});
