import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { jobProgress, stragglersOf, withReports } from "./job-progress.ts";
import { latestProgress, parseProgress } from "./progress-report.ts";

test("a line of progress is a marker and an object; anything else is other output", () => {
  assert.deepEqual(parseProgress('@progress {"step": 3, "totalSteps": 9, "metrics": {"loss": 0.5, "lr": "x"}}'), {
    step: 3,
    totalSteps: 9,
    metrics: { loss: 0.5 },
  });
  assert.deepEqual(parseProgress('  @progress {"step": 0}'), { step: 0 });
  const others = [
    "",
    "step 3",
    "@progress",
    "@progress 3",
    "@progress null",
    '@progress {"step": -1}',
    '@progress {"step": 1.5}',
  ];
  for (const line of [...others, 'see "@progress {"step": 3}"', "@progress {step: 3}"])
    assert.equal(parseProgress(line), undefined, line);
});

test("no output, whatever it is, makes the reader fail", () => {
  fc.assert(fc.property(fc.string(), (text) => void parseProgress(`@progress ${text}`)));
  fc.assert(fc.property(fc.json(), (text) => void parseProgress(`@progress ${text}`)));
});

test("of a log, the newest report counts, with the newest checkpoint", () => {
  const lines = ['@progress {"step": 1, "checkpoint": "/c/1"}', "noise", '@progress {"step": 2}'];
  assert.deepEqual(latestProgress(lines), { step: 2, checkpoint: "/c/1", checkpointStep: 1 });
  assert.equal(latestProgress(["noise"]), undefined);
});

const start = Date.parse("2026-01-01T00:00:00Z");
const at = (step: number) => new Map([[0, { step, totalSteps: 1000 }]]);

test("the estimate follows from the steps per second", () => {
  const first = jobProgress(at(100), undefined, start)!;
  assert.deepEqual(first, { percent: 10, step: 100, totalSteps: 1000, reportedAt: "2026-01-01T00:00:00Z" });
  const second = jobProgress(at(200), first, start + 50_000)!;
  assert.deepEqual([second.stepsPerSecond, second.estimatedCompletionTime], [2, "2026-01-01T00:07:30Z"]);
  const third = jobProgress(at(300), second, start + 150_000)!;
  assert.equal(third.stepsPerSecond, 1.5);
});

test("a job is as far as the last of its workers", () => {
  const reports = new Map([
    [0, { step: 90, totalSteps: 100 }],
    [1, { step: 40, totalSteps: 100 }],
  ]);
  assert.equal(jobProgress(reports, undefined, start)?.percent, 40);
});

test("no news is no change, and a job that went back to a checkpoint keeps its pace", () => {
  const known = { ...jobProgress(at(100), undefined, start)!, stepsPerSecond: 2 };
  assert.equal(jobProgress(at(100), known, start + 60_000), known);
  assert.equal(jobProgress(new Map(), known, start), known);
  const back = jobProgress(at(50), known, start + 60_000)!;
  assert.deepEqual([back.step, back.stepsPerSecond], [50, 2]);
});

test("stragglers are far behind the median; with two workers there are none", () => {
  const reports = (...steps: number[]) => new Map(steps.map((step, id) => [id, { step }]));
  assert.deepEqual(stragglersOf(reports(100, 99, 60, 101)), [2]);
  assert.deepEqual(stragglersOf(reports(100, 81, 100)), []);
  assert.deepEqual(stragglersOf(reports(100, 1)), []);
  assert.deepEqual(stragglersOf(reports(3, 2, 1)), []);
});

test("a status keeps its values when no worker reports", () => {
  const status = { phase: "Running" as const, stragglers: [1] };
  assert.equal(withReports(status, new Map(), start), status);
  const reports = new Map([[0, { step: 5, checkpoint: "/c/5" }]]);
  const after = withReports(status, reports, start);
  assert.equal(after.stragglers, undefined);
  assert.deepEqual(after.lastCheckpoint, { path: "/c/5", step: 5, reportedAt: "2026-01-01T00:00:00Z" });
  assert.equal(withReports(after, reports, start + 99_000).lastCheckpoint, after.lastCheckpoint);
});

test("a checkpoint that is written over the last one is known by its step", () => {
  const status = (lines: string[], before = {}, now = start) =>
    withReports(before, new Map([[0, latestProgress(lines)!]]), now);
  const line = (step: number) => `@progress {"step": ${step}, "checkpoint": "/c/last"}`;
  const first = status([line(5), '@progress {"step": 6}']);
  assert.deepEqual(first.lastCheckpoint, { path: "/c/last", step: 5, reportedAt: "2026-01-01T00:00:00Z" });
  const same = status([line(5), '@progress {"step": 7}'], first, start + 30_000);
  assert.equal(same.lastCheckpoint, first.lastCheckpoint);
  const later = status([line(5), line(10)], first, start + 30_000);
  assert.deepEqual(later.lastCheckpoint, { path: "/c/last", step: 10, reportedAt: "2026-01-01T00:00:30Z" });
});
