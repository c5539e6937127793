import assert from "node:assert/strict";
import { test } from "node:test";
import { checkOperator, type Exploration, type ExploreProgress, findingText, mergedParts } from "@konverge/testing";
import { forgetful, sound } from "./widgets.ts";

const faults = ["crash", "deletion", "drift", "rbac"] as const;
const halves = [1, 2].map((number) => ({ number, of: 2 }));

test("the parts of an exploration try together what the whole tries, each a part of it", async () => {
  const whole = await checkOperator(sound, { faults });
  const parts: Exploration[] = [];
  for (const part of halves) parts.push(await checkOperator(sound, { faults, part }));
  const merged = mergedParts(parts);
  assert.deepEqual(merged.tried, whole.tried);
  for (const field of ["points", "pruned", "covered", "deterministic", "findings"] as const)
    assert.deepEqual(merged[field], whole[field], field);
  for (const { points, tried } of parts) {
    assert.ok(points > 0 && points < whole.points, `${points} of ${whole.points} points`);
    assert.ok((tried.rbac ?? 0) < whole.tried.rbac!, JSON.stringify(tried));
  }
});

test("what several parts find is one finding", async () => {
  const whole = await checkOperator(forgetful, { faults: ["crash"], findings: 100 });
  const parts: Exploration[] = [];
  for (const part of halves) parts.push(await checkOperator(forgetful, { faults: ["crash"], findings: 100, part }));
  const messages = ({ findings }: Exploration) => [...new Set(findings.map(({ message }) => message))].sort();
  assert.ok(whole.findings.length > 0);
  assert.deepEqual(messages(mergedParts(parts)), messages(whole));
  assert.equal(mergedParts([parts[0]!, parts[0]!]).findings.length, mergedParts([parts[0]!]).findings.length);
});

test("a fault that passed in one scenario is still tried in the next, and neither when all is explored again", async () => {
  const passed = new Set<string>();
  const first = await checkOperator(sound, { faults: ["crash"], passed });
  assert.deepEqual(first.findings.map(findingText), []);
  assert.equal(first.earlier, 0);
  const again = await checkOperator(sound, { faults: ["crash"], passed });
  assert.equal(again.earlier, first.tried.crash);
});

test("progress counts the runs of all scenarios", async () => {
  const seen: ExploreProgress[] = [];
  const { runs, findings } = await checkOperator(forgetful, {
    faults: ["crash", "deletion"],
    findings: 100,
    onProgress: (progress) => seen.push(progress),
  });
  const last = seen.at(-1)!;
  assert.deepEqual([last.done, last.total, last.findings], [runs, runs, findings.length]);
  assert.equal(seen[0]?.tried, "no fault");
  assert.ok(
    seen.some(({ tried }) => /^crash/.test(tried)),
    seen.map(({ tried }) => tried).join("\n"),
  );
});
