import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { acceptedFindingsIn, acceptFindings } from "./accepted-findings.ts";
import type { Fault } from "./fault.ts";
import type { Exploration, Finding } from "./finding.ts";
import { Findings } from "./findings.ts";

const at = { on: "request", what: "create configmaps/a", nth: 1 } as const;
const finding = (message: string, ...faults: Fault[]): Finding => {
  return { oracle: "end state", message, faults, seed: 1, timeline: [], runs: 1 };
};
const error = (code: 429 | 500): Fault => ({ type: "error", at, code });

test("one cause is one finding, which lists the other faults that show it", () => {
  const reported: string[] = [];
  const findings = new Findings([], ({ message }) => reported.push(message));
  assert.ok(findings.add(finding("App a differs: status.size: expected 3, but it is 1", error(500))));
  assert.ok(!findings.add(finding("App a differs: status.size: expected 3, but it is missing", error(429))));
  assert.ok(!findings.add(finding("App a differs: status.size: expected 3, but it is 1", error(500))));
  assert.ok(findings.add(finding("App a is missing", error(500))));
  const [first, second] = findings.all;
  assert.deepEqual([first?.runs, first?.also], [3, [[error(429)]]]);
  assert.deepEqual([second?.runs, second?.also], [1, undefined]);
  assert.deepEqual(reported, ["App a differs: status.size: expected 3, but it is 1", "App a is missing"]);
});

test("an accepted finding is neither reported nor among the findings", () => {
  const reported: string[] = [];
  const accepted = [{ oracle: "end state", message: "pod a-1 is missing" }];
  const findings = new Findings(accepted, ({ message }) => reported.push(message));
  findings.add(finding("pod a-2 is missing", error(500)));
  findings.add(finding("App a is missing", error(500)));
  assert.deepEqual(reported, ["App a is missing"]);
  assert.deepEqual(
    findings.all.map(({ message }) => message),
    ["App a is missing"],
  );
  assert.deepEqual(
    findings.accepted.map(({ message }) => message),
    ["pod a-2 is missing"],
  );
});

test("a baseline file keeps reasons, loses what is not found any more, and is checked when it is read", () => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-baseline-"));
  try {
    const file = join(folder, "baseline.json");
    assert.deepEqual(acceptedFindingsIn(file), []);
    const known = { oracle: "end state", message: "pod a-1 is missing", reason: "it is started again by its user" };
    const gone = { oracle: "idle", message: "it writes" };
    writeFileSync(file, JSON.stringify([known, gone]));
    const exploration = { findings: [finding("new")], accepted: [finding("pod a-2 is missing")], stopped: "in time" };
    acceptFindings(file, exploration as unknown as Exploration);
    assert.equal(acceptedFindingsIn(file).length, 3, "what a stopped exploration has not found may still be there");
    acceptFindings(file, { ...exploration, stopped: undefined } as unknown as Exploration);
    assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), [{ oracle: "end state", message: "new" }, known]);
    writeFileSync(file, "{}");
    assert.throws(() => acceptedFindingsIn(file), /baseline\.json is not a baseline: it has to be a JSON list/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
