import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { faultText } from "../explorer/fault.ts";
import { passedFaultsIn } from "../explorer/passed-faults.ts";
import { type ExploreProgramOptions, exploreProgram, UnstableScenario } from "./explore-program.ts";
import { parseScenario } from "./scenario-file.ts";

const program = join(import.meta.dirname, "../../test/black-box-program.mjs");
const scenario = parseScenario(`
name: two children
steps:
- apply:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: web, labels: {parent: "yes"}}
- wait: {for: configmap/web-first, expression: "object.kind == 'ConfigMap'"}
- pause: 300ms
invariants:
- name: the second comes after the first
  always: >-
    objects.exists(o, o.metadata.name == 'web-first') || !objects.exists(o, o.metadata.name == 'web-second')
`);
const explored = (argument: string, options: Pick<ExploreProgramOptions, "passed"> = {}) =>
  exploreProgram({
    ...options,
    command: `exec '${process.execPath}' '${program}' ${argument}`,
    scenario,
    faults: ["crash"],
    only: "at create configmaps",
    idleAfter: 700,
    workers: 2,
  });

test("a program that takes its first write for a sign of both is found by a crash between them", async () => {
  const { findings, runs } = await explored("faulty");
  assert.deepEqual(
    findings.map(({ oracle, message }) => [oracle, message]),
    [["end state", "ConfigMap web-second is missing"]],
  );
  // Both are the same moment to the program; which of them is tried first is up to the workers.
  assert.match(
    findings[0]!.faults.map(faultText).join(),
    /^crash (after the request, at create configmaps\/web-first|before the request, at create configmaps\/web-second)$/,
  );
  assert.ok(runs > 2);
  const [{ timeline }] = findings as [(typeof findings)[0]];
  const lines = timeline.map(({ who, what, process }) => `${who}${process ?? ""} ${what}`);
  assert.ok(lines.includes("operator1 killed"), lines.join("\n"));
  assert.ok(lines.includes("operator2 started"), lines.join("\n"));
});

test("the same program without the mistake passes, and what passed is not tried again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-passed-"));
  try {
    const file = join(folder, "passed.txt");
    const exploration = await explored("correct", { passed: passedFaultsIn(file, "v1") });
    assert.deepEqual(exploration.findings, []);
    assert.ok(exploration.points >= 2, String(exploration.points));
    // As a process leaves it that was killed while it wrote.
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    writeFileSync(file, [...lines.slice(1), lines[0]!.slice(0, 20)].join("\n"));
    const again = await explored("correct", { passed: passedFaultsIn(file, "v1") });
    assert.equal(again.earlier, lines.length - 1);
    assert.equal(again.runs, 3, "two without faults, and one with the fault that is not in the file");
    assert.equal(readFileSync(file, "utf8").split("\n").at(-2), lines[0]);
    const other = passedFaultsIn(file, "v2");
    assert.equal(other.has(lines[0]!.slice("v1 ".length)), false, "what passed with other code does not count");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const randomNames = `
steps:
- apply:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: web, labels: {parent: "yes"}}
- pause: 300ms
`;

test("names with random parts are the same in all runs: a crash at their creation is repeated, and is no finding", async () => {
  const { findings, points, missed } = await exploreProgram({
    command: `exec '${process.execPath}' '${program}' random`,
    scenario: parseScenario(randomNames),
    faults: ["crash"],
    only: "at create configmaps/web-<random>",
    idleAfter: 700,
  });
  assert.deepEqual(findings, []);
  assert.ok(points >= 2, String(points));
  assert.equal(missed, 0);
});

test("runs without faults that end differently are refused, unless the scenario ignores what differs", async () => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-alternating-"));
  try {
    const alternating = (more: string) =>
      exploreProgram({
        command: `exec '${process.execPath}' '${program}' alternating '${join(folder, "processes")}'`,
        scenario: parseScenario(`${randomNames}${more}`),
        faults: ["crash"],
        only: "at create configmaps/web-first",
        points: 1,
        idleAfter: 700,
      });
    await assert.rejects(alternating(""), (error: unknown) => {
      assert.ok(error instanceof UnstableScenario);
      assert.match(error.message, /^two runs without faults end with different objects: ConfigMap web-extra: /);
      return true;
    });
    const { findings } = await alternating("ignore:\n- {kind: ConfigMap, name: '*-extra'}\n");
    assert.deepEqual(findings, []);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
