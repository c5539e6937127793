import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type Answers, EXPRESSIONS, questionAll } from "../../test/cel/corpus/judge.ts";
import { ownJudge } from "../../test/cel/corpus/own-judge.ts";
import { CONDITIONS } from "../../test/cel/corpus/policies.ts";
import { BOUNDED } from "../../test/cel/corpus/sample.ts";
import { parseAndCheck } from "./evaluation/compile.ts";
import { ruleFunctions } from "./library/functions.ts";
import { ruleDeclarations } from "./rules/rule-programs.ts";
import { dataTypeOf } from "./types/schema-types.ts";

/** What a real API server answered; cel.real.test.ts holds the recording to it. */
const recorded = JSON.parse(
  readFileSync(new URL("../../test/cel/corpus/answers.json", import.meta.url), "utf8"),
) as Answers;
const own = await questionAll(ownJudge);

test("expressions are refused as a real API server refuses them", () => {
  assert.deepEqual(own.refused, recorded.refused);
});

test("expressions say about objects what they say on a real API server", () => {
  assert.deepEqual(own.evaluated, recorded.evaluated);
});

test("expressions are estimated to cost what a real API server estimates", () => {
  assert.deepEqual(own.costs, recorded.costs);
});

for (const [name, outcome] of Object.entries(recorded.schemas)) {
  test(`a real API server agrees on ${name}`, () => {
    assert.deepEqual(own.schemas[name], outcome);
  });
}

test("the recording knows all schemas of the corpus", () => {
  assert.deepEqual(Object.keys(own.schemas).sort(), Object.keys(recorded.schemas).sort());
});

test("the corpus calls every function with every type of argument", () => {
  const declarations = ruleDeclarations(dataTypeOf(BOUNDED, false)!, false);
  const called = new Set<string>();
  for (const expression of EXPRESSIONS) {
    const result = parseAndCheck(expression, declarations);
    if (!("checked" in result)) continue;
    for (const { overloads = [] } of result.checked.references.values()) for (const id of overloads) called.add(id);
  }
  const conditions = CONDITIONS.join();
  for (const { name, overloads } of ruleFunctions().values()) {
    for (const { id, args } of overloads) {
      const isAuthorization = args[0]?.name.startsWith("kubernetes.authorization");
      assert.ok(isAuthorization ? conditions.includes(`.${name}(`) : called.has(id), `nothing calls ${id}`);
    }
  }
});
