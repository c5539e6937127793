import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type Answers, questionAll } from "./corpus/judge.ts";
import { ownJudge } from "./corpus/own-judge.ts";

/** What a real API server answered; cel.real.test.ts holds the recording to it. */
const recorded = JSON.parse(readFileSync(new URL("./corpus/answers.json", import.meta.url), "utf8")) as Answers;
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
