import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { groupedTests } from "./test-groups.ts";

const SETS_VARIABLE = 'process["env"]["A"] = "b";'.replaceAll(/\["(\w+)"\]/g, ".$1");

test("files share as many processes as run at a time, neighbors different ones; a file that changes its process stands alone", () => {
  const root = mkdtempSync(join(tmpdir(), "konverge-groups-"));
  try {
    const write = (path: string, text = "") => {
      mkdirSync(join(root, path, ".."), { recursive: true });
      writeFileSync(join(root, path), text);
      return join(root, path);
    };
    const units = Array.from({ length: 7 }, (_, i) => write(`unit/${i}.test.ts`));
    const scenarios = Array.from({ length: 2 }, (_, i) => write(`test/${i}.test.ts`));
    const changing = write("unit/env.test.ts", SETS_VARIABLE);
    const runs = groupedTests([changing, ...units, ...scenarios], 3, join(root, "groups"));
    assert.equal(runs.pop(), changing);
    const members = runs.map((group) => readFileSync(group, "utf8").match(/\w+\/\d+\.test\.ts/g));
    assert.deepEqual(
      members.map((files) => files?.map((file) => file.slice(0, -".test.ts".length))),
      [["test/0"], ["test/1"], ["unit/0", "unit/3", "unit/6"], ["unit/1", "unit/4"], ["unit/2", "unit/5"]],
    );
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

test("a file that only reads a variable shares a process", () => {
  const root = mkdtempSync(join(tmpdir(), "konverge-groups-"));
  try {
    const file = join(root, "reads.test.ts");
    writeFileSync(file, SETS_VARIABLE.replace(" = ", " === "));
    const [group] = groupedTests([file], 2, join(root, "groups"));
    assert.equal(basename(group!), "units-1.mjs");
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
