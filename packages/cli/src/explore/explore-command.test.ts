import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { UsageError } from "../usage-error.ts";
import { exploreFromCommandLine } from "./explore-command.ts";

const options = { command: "true", depth: 1, seed: 1, findings: 10, workers: 1 } as const;
const silent = { print: () => {}, progress: () => {} };

test("what is wrong with the options is reported before anything is started", async () => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-explore-"));
  try {
    const scenario = join(folder, "story.yaml");
    const refused = (more: object, problem: RegExp) =>
      assert.rejects(exploreFromCommandLine({ ...options, scenario, ...more }, silent), (error: unknown) => {
        assert.ok(error instanceof UsageError, String(error));
        assert.match(error.message, problem);
        return true;
      });
    await refused({}, /^--scenario .*story\.yaml: there is no such file$/);
    writeFileSync(scenario, "steps: none\n");
    await refused({}, /story\.yaml:1:8: steps: must be a list$/);
    writeFileSync(scenario, "steps:\n- pause: 1ms\n");
    await refused({ faults: "crash,flood" }, /^--faults flood: there are crash, stale, error/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
