import assert from "node:assert/strict";
import { test } from "node:test";
import type { Exploration, Finding } from "./finding.ts";
import { explorationJson, explorationJUnit } from "./report-files.ts";

const exploration: Exploration = {
  seed: 1,
  runs: 12,
  points: 5,
  tried: { crash: 9 },
  pruned: 3,
  earlier: 0,
  covered: 9,
  accepted: [],
  deterministic: true,
  stopped: undefined,
  findings: [],
};
const finding: Finding = {
  oracle: "end state",
  message: 'ConfigMap web differs: expected "a" & <b>\u0007',
  faults: [{ type: "crash", at: { on: "request", what: "create configmaps/web", nth: 1 }, when: "after" }],
  seed: 1,
  timeline: [{ at: 1, revision: 2, who: "operator", type: "process", what: "started", process: 1 }],
  runs: 2,
};

test("a JUnit report has a failed test for each finding", () => {
  const text = explorationJUnit({ ...exploration, findings: [finding] }, "story");
  assert.match(text, /<testsuite name="story" tests="1" failures="1">/);
  assert.match(text, /<testcase classname="end state" name="crash after the request, at create configmaps\/web">/);
  assert.match(text, /<failure message="ConfigMap web differs: expected &quot;a&quot; &amp; &lt;b&gt;">end state: /);
});

test("a JUnit report without findings has one test that passed, so that it is not taken for an empty one", () => {
  const text = explorationJUnit(exploration, "story");
  assert.match(
    text,
    /<testsuite name="story" tests="1" failures="0">\n<testcase name="no findings, 12 runs, [^"]*"\/>/,
  );
});

test("the JSON of an exploration has all of it, timelines included", () => {
  const text = explorationJson({ ...exploration, findings: [finding] });
  assert.deepEqual((JSON.parse(text) as Exploration).findings, [finding]);
});
