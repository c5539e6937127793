import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { exploreForgetful } from "../test/explored.ts";
import { loadExploration } from "./exploration-source.ts";
import { History } from "./history.ts";
import type { StepEntry } from "./protocol.ts";

const limits = { entries: 10_000, characters: 1e7 };

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "konverge-console-"));
  try {
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("the steps of a finding are shown with who did them, what came of it, and the fault", async () => {
  await inFolder(async (folder) => {
    const history = new History(limits);
    const [finding] = await loadExploration(await exploreForgetful(folder), history);
    assert.match(finding!.message, /a-copy/);
    assert.match(finding!.faults[0]!, /^error .*create configmaps/);
    const steps = history.entries.filter((entry): entry is StepEntry => entry.type === "step");
    const fault = steps.findIndex(({ step }) => step === "fault");
    assert.equal(steps[fault]!.who, "explorer");
    assert.match(steps[fault]!.what, /create configmaps/);
    const write = steps.slice(fault).find(({ step, who }) => step === "write" && who === "operator #1");
    assert.match(`${write?.what} ${write?.result}`, /create configmaps\/\S*a-copy/);
  });
});

test("a file that is no exploration, or has no findings, is an error that says which file is needed", async () => {
  await inFolder(async (folder) => {
    const file = join(folder, "exploration.json");
    const cases: [string, RegExp][] = [
      ["{", /is not JSON: name the exploration\.json that konverge explore wrote/],
      ["[]", /is not an exploration: name the exploration\.json/],
      ['{"findings":[{}]}', /is not an exploration/],
      ['{"findings":[]}', /has no findings: there is nothing to step through/],
    ];
    for (const [text, message] of cases) {
      writeFileSync(file, text);
      await assert.rejects(loadExploration(file, new History(limits)), message);
    }
  });
});
