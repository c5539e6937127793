import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnyObject } from "@konverge/core";
import { ConfigMap } from "@konverge/kinds";
import {
  explore,
  type Finding,
  findingPage,
  findingText,
  type Invariant,
  replay,
  type Scenario,
} from "@konverge/testing";
import { contradictory, converges, forgetful, placed, polling, reporting, sound, timid, Widget } from "./widgets.ts";

const texts = (findings: readonly Finding[]) => findings.map(findingText).join("\n");

test("an operator that infers all from the cluster survives a crash at each of its writes", async () => {
  const { findings, tried, deterministic } = await explore(converges(sound), { faults: ["crash"] });
  assert.equal(texts(findings), "");
  assert.equal(deterministic, true);
  assert.equal(
    tried.crash,
    10,
    "two for each of three writes, two before the user's write, one in its wait, and one at the end",
  );
});

test("an operator that keeps its progress in memory is found, with the write at which it crashed", async () => {
  const { findings } = await explore(converges(forgetful), { faults: ["crash"] });
  const [finding] = findings;
  assert.equal(finding?.oracle, "end state");
  assert.equal(finding.message, "ConfigMap w-b is missing");
  const at = { on: "request", what: "create configmaps/w-a", nth: 1 };
  assert.deepEqual(finding.faults, [{ type: "crash", when: "after", at }]);
});

test("an operator that takes a failure for a decision is found, with the request that failed", async () => {
  const { findings } = await explore(converges(timid), { faults: ["error"] });
  const [finding] = findings;
  assert.equal(finding?.message, "ConfigMap w-a is missing");
  assert.equal(finding.faults[0]?.at.what, "list secrets");
});

test("a fault at the end of the idle time is not taken for unrest", async () => {
  for (let nth = 13; nth < 16; nth++) {
    const at = { on: "request", what: "list secrets", nth } as const;
    const { idle, faults } = await replay(converges(polling), { faults: [{ type: "error", code: 500, at }], seed: 1 });
    assert.equal(faults.length, 1);
    assert.equal(idle?.writes, 0, `an error at the ${nth}th of the periodic requests`);
  }
});

test("a finding is replayed exactly by its faults and seed, and is lost without the faults", async () => {
  const scenario = converges(forgetful);
  const [finding] = (await explore(scenario, { faults: ["crash"], findings: 1 })).findings;
  assert.ok(finding);
  const again = await replay(scenario, finding);
  assert.deepEqual(again.timeline, finding.timeline);
  const clean = await replay(scenario, { faults: [], seed: finding.seed });
  assert.ok(clean.endState?.has("ConfigMap w-b"));
});

test("a sample of faults is the same for the same seed", async () => {
  const options = { faults: ["error"], runs: 2, seed: 5 } as const;
  const first = await explore(converges(timid), options);
  assert.deepEqual(first, await explore(converges(timid), options));
  assert.equal(first.tried.error, 2);
});

test("what differs between two runs without faults does not count", async () => {
  const { findings, deterministic } = await explore(converges(placed), { faults: ["crash"], runs: 2 });
  assert.equal(texts(findings), "");
  assert.equal(deterministic, false, "no seed can replay what such an operator does");
});

test("an invariant is checked after each single change", async () => {
  const pair: Invariant = {
    name: "both or none",
    always: (state) =>
      (state.get("configmaps", "w-a") === undefined) === (state.get("configmaps", "w-b") === undefined),
  };
  const { findings } = await explore(converges(sound), { faults: ["slow"], runs: 0, invariants: [pair] });
  assert.equal(findings[0]?.oracle, "invariant");
  assert.match(findings[0].message, /^both or none: violated after configmaps\/w-a was created/);
});

test("a finding that needs one fault is reported with one at depth 2 as well", async () => {
  const { findings, runs } = await explore(converges(forgetful), { faults: ["crash"], depth: 2, findings: 3 });
  assert.ok(runs > 10);
  assert.ok(
    findings.every(({ faults }) => faults.length === 1),
    texts(findings),
  );
});

test("a page shows the timeline and escapes what objects are called", async () => {
  const finding: Finding = {
    oracle: "leak",
    message: "ConfigMap <b> should not be there",
    faults: [],
    seed: 1,
    timeline: [
      { at: 1500, revision: 7, who: "operator", type: "event", what: "ADDED pods/a", version: "5", live: "7" },
    ],
    runs: 1,
  };
  const page = findingPage(finding);
  assert.match(page, /ConfigMap &lt;b&gt; should not be there/);
  assert.match(page, /receives ADDED pods\/a.*version 5.*stale: it is at 7/);
  assert.doesNotMatch(page, /<script|src=|href=/);
});

test("a fault whose point does not occur is not among the faults of a run", async () => {
  const at = { on: "request", what: "create pods/none", nth: 1 } as const;
  const run = await replay(converges(sound), { faults: [{ type: "crash", at, when: "before" }], seed: 1 });
  assert.deepEqual(run.faults, []);
});

test("what a scenario asserts after a wait that the user skips is not blamed on the operator", async () => {
  const scenario: Scenario = async (environment) => {
    await converges(sound)(environment);
    await environment.client.patch(Widget, `${environment.namespace}/w`, { merge: { spec: { text: "bye" } } });
    const isBye = async () => (await environment.get(ConfigMap, "w-a")).data?.["text"] === "bye";
    await environment.until("the text is bye", isBye);
    assert.ok(await isBye());
  };
  const { findings, tried } = await explore(scenario, { faults: ["user"], runs: 6 });
  assert.equal(texts(findings), "");
  assert.equal(tried.user, 6);
});

test("a wait with a timeout goes on for as long as the operator is down", async () => {
  const scenario: Scenario = async (environment) => {
    await converges(sound)(environment);
    await environment.client.patch(Widget, `${environment.namespace}/w`, { merge: { spec: { text: "bye" } } });
    const isBye = async () => (await environment.get(ConfigMap, "w-a")).data?.["text"] === "bye";
    await environment.until("the text is bye", isBye, 60_000);
  };
  for (const what of ["patch widgets.example.com/w", "wait until the text is bye"]) {
    const at = { on: "user", what, nth: 1 } as const;
    const { failure, faults } = await replay(scenario, { faults: [{ type: "downtime", at, ms: 900_000 }], seed: 1 });
    assert.equal(failure?.message, undefined);
    assert.equal(faults.length, 1);
  }
});

test("what the operator writes because something else changed late is no restlessness", async () => {
  const { findings } = await explore(converges(reporting), { faults: ["crash"], runs: 0 });
  assert.equal(texts(findings), "");
  const { changes } = await replay(converges(reporting), { faults: [], seed: 1 });
  const last = changes.findLast(({ resource }) => resource === "widgets.example.com");
  assert.equal((last!.object as AnyObject & { status?: { text?: string } }).status?.text, "ProgressDeadlineExceeded");
});

test("faults that passed are not tried again, those with findings are", async () => {
  const passed = new Set<string>();
  const options = { faults: ["crash"], passed } as const;
  const first = await explore(converges(forgetful), options);
  assert.ok(passed.size > 0 && passed.size < first.tried.crash!, `${passed.size} passed`);
  const second = await explore(converges(forgetful), options);
  assert.equal(second.earlier, passed.size);
  assert.equal(first.runs - second.runs, passed.size);
  assert.deepEqual(second.findings, first.findings);
});

test("an object that has failed and is Ready is found without any fault", async () => {
  const { findings } = await explore(converges(contradictory), { faults: ["crash"], findings: 1 });
  assert.equal(findings[0]?.oracle, "status");
  assert.equal(findings[0].message, "the status of Widget w is Ready, but its phase is Failed");
  assert.deepEqual(findings[0].faults, []);
});

test("an exploration that is interrupted returns what it has found and reported so far, and so does one without time", async () => {
  const stop = new AbortController();
  const reported: Finding[] = [];
  const onFinding = (finding: Finding) => {
    reported.push(finding);
    stop.abort();
  };
  const options = { faults: ["crash"], signal: stop.signal, onFinding } as const;
  const { findings, stopped } = await explore(converges(forgetful), options);
  assert.equal(stopped, "it was interrupted");
  assert.deepEqual([reported.length, findings.length], [1, 1]);
  const none = await explore(converges(forgetful), { time: 0 });
  assert.deepEqual([none.stopped, none.findings.length], ["0 s have passed", 0]);
});

test("a finding that is accepted is returned separately", async () => {
  const { findings } = await explore(converges(forgetful), { faults: ["crash"] });
  const again = await explore(converges(forgetful), { faults: ["crash"], accepted: findings });
  assert.deepEqual([again.findings, again.accepted.length], [[], findings.length]);
});
