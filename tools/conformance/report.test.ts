import assert from "node:assert/strict";
import { test } from "node:test";
import { heldOutText, reportText, sumText } from "./report.ts";
import type { SpecResult } from "./run-spec.ts";

const result = (name: string, passed: boolean, secondTry: boolean, reason = ""): SpecResult => ({
  spec: { name, sig: "node", area: "Pods", serial: false },
  passed,
  secondTry,
  reason,
  output: "",
});

test("every summary line counts second tries", () => {
  const results = [result("a", true, false), result("b", true, true), result("c", false, true, "no end within 60 s")];
  const sum = "2 passed (1 of them on the second try), 1 failed (1 of them twice)";
  assert.equal(sumText(results), sum);
  assert.equal(sumText([]), "0 passed (0 of them on the second try), 0 failed (0 of them twice)");
  const lines = reportText(results).split("\n");
  assert.equal(lines[0], `node / Pods  ${sum}`);
  assert.equal(lines.at(-1), sum);
});

test("the held-out score names its seed, what it was drawn from, and what was skipped", () => {
  const results = [result("a", true, false), result("b", false, false, "skipped: needs SSH")];
  assert.equal(
    heldOutText(results, { seed: "7", of: 400 }),
    "held-out score: 1 of 2 passed, 1 skipped themselves, 0 second tries; drawn with seed 7 from 400 specs without the tags Conformance, Feature, Slow, Serial, Disruptive, Flaky and Driver",
  );
});
