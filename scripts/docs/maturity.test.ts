import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { maturityProblems } from "./maturity.ts";

const ROOT = join(import.meta.dirname, "../..");

test("each claim of an operator's maturity names tests that exist", () => {
  const pages = globSync("operators/*/README.md", { cwd: ROOT }).filter((page) => !page.includes("all"));
  assert.equal(pages.length, 7);
  const problems = pages.flatMap((page) =>
    maturityProblems(readFileSync(join(ROOT, page), "utf8"), join(ROOT, dirname(page))).map((one) => `${page}: ${one}`),
  );
  assert.deepEqual(problems, []);
});

const TITLE = "a claim without a test, or of a test that does not exist, is reported";
const SAMPLE = `# A page

## Maturity

- **Thing**: level 1, Basic Install.

| level | kinds | what is there | shown by |
|---|---|---|---|
| 1 Basic Install | Thing | it | [${TITLE}](maturity.test.ts) |

## Next
`;

test("a claim without a test, or of a test that does not exist, is reported", () => {
  const problemsOf = (from: string, to: string) =>
    maturityProblems(SAMPLE.replace(from, to), import.meta.dirname).join("\n");
  assert.equal(problemsOf("", ""), "");
  assert.match(problemsOf(`[${TITLE}]`, "[another]"), /maturity\.test\.ts has no test "another"/);
  assert.match(problemsOf("(maturity.test.ts)", "(nowhere.test.ts)"), /nowhere\.test\.ts is no test file/);
  assert.match(problemsOf("(maturity.test.ts)", "(maturity.ts)"), /maturity\.ts is no test file/);
  assert.match(problemsOf(`[${TITLE}](maturity.test.ts)`, "it is so"), /no test shows it/);
  assert.match(problemsOf("level 1, Basic Install", "level 2, Seamless Upgrades"), /Thing: no line of level 2/);
  assert.match(problemsOf("level 1, Basic Install", "level 1, Auto Pilot"), /level 1 is not Auto Pilot/);
  assert.match(problemsOf("| Thing |", "| Other |"), /Other has no level/);
  assert.match(problemsOf("1 Basic Install |", "1 install |"), /1 install is no level/);
  assert.match(problemsOf("## Maturity", "## Age"), /there is no section Maturity/);
});
