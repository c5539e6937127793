import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { brokenReferences, checkFolder, indexOf, readRecord } from "./decisions.ts";

const ROOT = join(import.meta.dirname, "../..");
const FOLDER = join(ROOT, "docs/decisions");

const SAMPLE = `# 007 Do this

- Date: 2026-11-15
- Status: accepted

## Context

Why.

## Decision

This.

## Consequences

That.
`;

test("every record has the form, a number in sequence, and references that exist", () => {
  const { records, problems } = checkFolder(FOLDER);
  assert.deepEqual(problems, []);
  assert.ok(records.length > 0);
});

test("the index lists every record", () => {
  const advice = "docs/decisions/README.md is out of date: node scripts/docs/decisions.ts --write";
  assert.equal(readFileSync(join(FOLDER, "README.md"), "utf8"), indexOf(checkFolder(FOLDER).records), advice);
});

test("every reference to a record in code and documentation leads to one", () => {
  const { records } = checkFolder(FOLDER);
  const pattern =
    "{*.md,docs/{guide,reference}/**/*.md,{bench,examples,operators,packages,scripts,tools}/**/*.{ts,md}}";
  const exclude = (path: string) => /node_modules|generated|decisions\.test\.ts$/.test(path);
  const broken = globSync(pattern, { cwd: ROOT, exclude }).flatMap((file) =>
    brokenReferences(readFileSync(join(ROOT, file), "utf8"), records).map((mention) => `${file}: ${mention}`),
  );
  assert.deepEqual(broken, []);
});

test("a record of the form has no problems", () => {
  assert.deepEqual(readRecord("007-do-this.md", SAMPLE), {
    record: { file: "007-do-this.md", number: "007", title: "Do this", date: "2026-11-15", status: "accepted" },
    problems: [],
  });
});

test("a record without the form is reported", () => {
  const problemsOf = (text: string, file = "007-do-this.md") => readRecord(file, text).problems.join("\n");
  assert.match(problemsOf(SAMPLE.replace("- Date: 2026-11-15\n", "")), /must start with/);
  assert.match(problemsOf(SAMPLE.replace("accepted", "maybe")), /must start with/);
  assert.match(problemsOf(SAMPLE.replace("## Decision", "## Choice")), /Context, Choice, Consequences: expected/);
  assert.match(problemsOf(SAMPLE.replace("That.", "")), /the section Consequences is empty/);
  assert.match(problemsOf(SAMPLE, "008-do-this.md"), /file name must start with 007-/);
  assert.match(problemsOf(SAMPLE + "line\n".repeat(60)), /at most 60 fit on a page/);
});

test("a superseded record names its successor", () => {
  assert.equal(
    readRecord("007-do-this.md", SAMPLE.replace("accepted", "superseded by 009")).record?.status,
    "superseded by 009",
  );
});

test("references to records that do not exist are found by path and by number", () => {
  const { record } = readRecord("007-do-this.md", SAMPLE);
  const text =
    "docs/decisions/007-do-this.md, docs/decisions/007-old.md, docs/decisions/061: see decision 007, decision 008";
  assert.deepEqual(brokenReferences(text, [record!]), ["decisions/007-old.md", "decisions/061", "decision 008"]);
});
