import assert from "node:assert/strict";
import { test } from "node:test";
import type { Member } from "./leadership.ts";
import { rolloutStep } from "./rollout.ts";

const server = (name: string, ready = true, streaming?: boolean): Member => ({
  name,
  pod: { uid: name, ready, ending: false, dead: false, node: "node" },
  report: streaming === undefined ? undefined : { role: "standby", term: 1, streaming },
});

test("what is of the newest revision stays", () => {
  assert.deepEqual(rolloutStep([server("a"), server("b")], "a", new Set()), { step: "none" });
});

test("standbys are replaced first, the last one first, and only while all others are ready", () => {
  const all = [server("a"), server("b", true, true), server("c", true, true)];
  const step = rolloutStep(all, "a", new Set(["a", "b", "c"]));
  assert.deepEqual(step.step === "replace" && step.name, "c");
  const missing = [server("a"), server("b", true, true), server("c", false)];
  assert.equal(rolloutStep(missing, "a", new Set(["a", "b"])).step, "wait");
  const behind = [server("a"), server("b", true, true), server("c", true, false)];
  assert.equal(rolloutStep(behind, "a", new Set(["a", "b"])).step, "wait");
});

test("the primary is replaced after a switchover, or where no other server can lead", () => {
  const all = [server("a"), server("b", true, true)];
  assert.deepEqual(rolloutStep(all, "a", new Set(["a"])), { step: "handOver", to: "b" });
  const silent = [server("a"), server("b")];
  assert.equal(rolloutStep(silent, "a", new Set(["a"])).step, "replace");
  assert.equal(rolloutStep([server("a")], "a", new Set(["a"])).step, "replace");
});

test("a server that does not start is replaced at once, also the primary", () => {
  const step = rolloutStep([server("a", false), server("b", true, true)], "a", new Set(["a"]));
  assert.deepEqual(step.step === "replace" && step.name, "a");
});

test("a primary that answers is replaced last, also when another container of its pod is not ready", () => {
  const primary: Member = { ...server("a", false), report: { role: "primary", term: 1, confirming: "" } };
  const step = rolloutStep([primary, server("b", true, true)], "a", new Set(["a", "b"]));
  assert.deepEqual(step.step === "replace" && step.name, "b");
  assert.deepEqual(rolloutStep([primary, server("b", true, true)], "a", new Set(["a"])), { step: "handOver", to: "b" });
});
