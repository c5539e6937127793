import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { groupedTests, homeOf } from "./test-groups.ts";

const SETS_VARIABLE = 'process["env"]["A"] = "b";'.replaceAll(/\["(\w+)"\]/g, ".$1");

test("unit tests share processes; scenarios, and files that change their process, stand alone and come first", () => {
  const root = mkdtempSync(join(tmpdir(), "konverge-groups-"));
  try {
    const write = (path: string, text = "") => {
      mkdirSync(join(root, path, ".."), { recursive: true });
      writeFileSync(join(root, path), text);
      return join(root, path);
    };
    const units = Array.from({ length: 11 }, (_, i) => write(`unit/${i}.test.ts`));
    const [scenario, changing] = [write("test/long.test.ts"), write("unit/env.test.ts", SETS_VARIABLE)];
    const runs = groupedTests([...units, scenario, changing], join(root, "groups"));
    assert.deepEqual(runs.slice(0, 2), [scenario, changing]);
    const groups = runs.slice(2).map((group) => readFileSync(group, "utf8").match(/\d+\.test\.ts/g));
    assert.deepEqual(
      groups.map((files) => files?.length),
      [6, 5],
    );
    assert.deepEqual(
      groups.flat(),
      units.map((file) => basename(file)),
    );
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

test("the tests of a package's sources belong together, and so do examples", () => {
  assert.equal(homeOf("packages/core/src/apply/a.test.ts"), "packages/core/src");
  assert.equal(homeOf("examples/01-children/children.test.ts"), "examples");
  assert.equal(homeOf("scripts/docs/a.test.ts"), "scripts/docs");
});
