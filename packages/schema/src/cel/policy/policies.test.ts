import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ownPolicyAnswers, type PolicyAnswers } from "../../../test/cel/corpus/policy-judge.ts";

/** What a real API server answered; policies.real.test.ts holds the recording to it. */
const recorded = JSON.parse(
  readFileSync(new URL("../../../test/cel/corpus/policy-answers.json", import.meta.url), "utf8"),
) as PolicyAnswers;
const own = ownPolicyAnswers();

test("policies are refused as a real API server refuses them", () => {
  assert.deepEqual(own.refused, recorded.refused);
});

test("conditions say what they say on a real API server", () => {
  assert.deepEqual(own.conditions, recorded.conditions);
});

test("JSON patches do what they do on a real API server", () => {
  assert.deepEqual(own.patched, recorded.patched);
});
