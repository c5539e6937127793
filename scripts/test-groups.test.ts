import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { groupedTests, homeOf } from "./test-groups.ts";

const SETS_VARIABLE = 'process["env"]["A"] = "b";'.replaceAll(/\["(\w+)"\]/g, ".$1");

test("neighbors share processes, few scenarios or many unit tests; a file that changes its process stands alone and comes first", () => {
  const root = mkdtempSync(join(tmpdir(), "konverge-groups-"));
  try {
    const write = (path: string, text = "") => {
      mkdirSync(join(root, path, ".."), { recursive: true });
      writeFileSync(join(root, path), text);
      return join(root, path);
    };
    const units = Array.from({ length: 17 }, (_, i) => write(`unit/${i}.test.ts`));
    const scenarios = Array.from({ length: 6 }, (_, i) => write(`test/${i}.test.ts`));
    const changing = write("unit/env.test.ts", SETS_VARIABLE);
    const [first, ...runs] = groupedTests([...units, ...scenarios, changing], join(root, "groups"));
    assert.equal(first, changing);
    const groups = runs.map((group) => readFileSync(group, "utf8").match(/\d+\.test\.ts/g));
    assert.deepEqual(
      groups.map((files) => files?.length),
      [3, 3, 9, 8],
    );
    assert.deepEqual(
      groups.flat(),
      [...scenarios, ...units].map((file) => basename(file)),
    );
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

test("the tests of a package's sources belong together, and so do examples", () => {
  assert.equal(homeOf("packages/core/src/apply/a.test.ts"), "packages/core/src");
  assert.equal(homeOf("operators/ray/test/upstream/a.test.ts"), "operators/ray/test");
  assert.equal(homeOf("examples/01-children/children.test.ts"), "examples");
  assert.equal(homeOf("scripts/docs/a.test.ts"), "scripts/docs");
});
