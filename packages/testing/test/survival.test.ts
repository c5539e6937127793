import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnyObject } from "@konverge/core";
import {
  apiErrorRuns,
  crashRuns,
  crdDeletionRuns,
  deletionRuns,
  driftRuns,
  runScenario,
  type Scenario,
} from "@konverge/testing";
import { careless, converges, failing, placed, resentful, sound, timid, Widget } from "./widgets.ts";

test("an operator that tries again survives each fault of each of its requests", async () => {
  const { requests, runs, problems } = await apiErrorRuns(converges(sound));
  assert.deepEqual(problems, []);
  assert.equal(runs - 1, 3 * 5 + (requests - 3), "each of three writes with five faults, each read with one");
});

test("an operator that takes a failure for a decision is found out, with the request that failed", async () => {
  const { problems } = await apiErrorRuns(converges(timid));
  assert.ok(
    problems.some((told) => /\(GET \S+secrets\) .*: ConfigMap w-a is missing/.test(told)),
    problems.join("\n"),
  );
});

test("a sample of failing requests is the same for the same seed", async () => {
  const first = await apiErrorRuns(converges(timid), { runs: 3, seed: 5 });
  const second = await apiErrorRuns(converges(timid), { runs: 3, seed: 5 });
  assert.equal(first.runs, 4);
  assert.deepEqual(first, second);
});

test("children go with their owner, whenever it is deleted", async () => {
  const { writes, runs, problems } = await deletionRuns(converges(sound), Widget);
  assert.deepEqual(problems, []);
  assert.deepEqual([writes, runs], [3, 4]);
});

test("a child without an owner is found when its owner is gone, unless it may stay", async () => {
  const { problems } = await deletionRuns(converges(careless), Widget);
  assert.equal(problems[0], "deleted at the end: ConfigMap w-a is left behind");
  assert.match(problems[1] ?? "", /deleted after write 1 of 2, in the background: ConfigMap w-a is left behind/);
  const kept = ({ metadata }: { metadata: { name: string } }) => metadata.name === "w-a";
  assert.deepEqual((await deletionRuns(converges(careless), Widget, { kept })).problems, []);
});

test("children that are deleted or edited by hand are made as they were", async () => {
  const { children, edits, problems } = await driftRuns(converges(sound));
  assert.deepEqual(problems, []);
  assert.deepEqual([children, edits], [2, 4], "the text of each of two is changed, and removed");
});

test("children that are not made again are found, with what was done to them", async () => {
  const { problems } = await driftRuns(converges(timid));
  assert.deepEqual(problems, [
    'ConfigMap w-a, /data/text changed to "hello-edited": ConfigMap w-a differs: expected "text": "hello", but it is ' +
      '"text": "hello-edited"',
    "ConfigMap w-a deleted: ConfigMap w-a is missing",
  ]);
});

test("an operator that does not recover from one edit is reported once, not with each edit that follows", async () => {
  const { edits, problems } = await driftRuns(converges(resentful));
  assert.ok(edits > 2);
  assert.equal(problems.length, 1, problems.join("\n"));
  assert.match(
    problems[0] ?? "",
    /^ConfigMap w-a, .*: Widget w differs: expected "text": "hello", but it is "text": "edited"/,
  );
});

test("what differs between two runs names the option that excludes it", async () => {
  const { problems } = await crashRuns(converges(placed));
  assert.match(problems[0] ?? "", /"node-\d+", but it is .*; if it may differ .* remove it with the option mask$/);
  const mask = (object: AnyObject) => (object.kind === "Widget" ? { ...object, status: {} } : object);
  assert.deepEqual((await crashRuns(converges(placed), { mask })).problems, []);
});

test("a wait that times out reports what the operator logged once, with how often", async () => {
  const scenario: Scenario = async (environment) => {
    await environment.start(failing);
    await environment.apply({ apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" }, spec: {} });
    await environment.until("it works", () => false, 60_000);
  };
  await assert.rejects(runScenario(scenario), ({ message }: Error) => {
    const logged = message.split("\n").filter((line) => line.includes("the operator logged"));
    assert.equal(logged.length, 1, message);
    assert.match(logged[0] ?? "", /logged \d+ times: .*the disk is full/);
    return true;
  });
});

test("definitions may go and come while the operator runs", async () => {
  const { deleted, problems } = await crdDeletionRuns(sound, converges(sound));
  assert.deepEqual([deleted, problems], [1, []]);
});
