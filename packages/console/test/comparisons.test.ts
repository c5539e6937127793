import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { comparisonsOf } from "../page/comparisons.ts";
import { resultOf } from "../src/results-source.ts";

const texts = (head: string[], rows: string[][]) =>
  comparisonsOf({ head, rows }).map(({ title, ratio, bars }) => [
    ratio === undefined ? title : `${title} (${ratio})`,
    ...bars.map(({ name, value }) => `${name} ${value}`),
  ]);

test("with a ratio, the columns of each row are compared", () => {
  const rows = [
    ["cold: s", "9.62", "10.13", "0.95"],
    ["restart: writes", "0", "0", ""],
  ];
  assert.deepEqual(texts(["", "konverge", "controller-runtime", "ratio"], rows), [
    ["cold: s (0.95)", "konverge 9.62", "controller-runtime 10.13"],
    ["restart: writes", "konverge 0", "controller-runtime 0"],
  ]);
});

test("otherwise the rows of each column are compared; what is no number is left out", () => {
  const rows = [
    ["embedded", "2.4", "20,000", "69c7d1af72c5"],
    ["3-real", "31.7", "-", "42529c651395"],
  ];
  assert.deepEqual(texts(["", "ready s", "running", "digest"], rows), [
    ["ready s", "embedded 2.4", "3-real 31.7"],
    ["running", "embedded 20000"],
  ]);
});

test("rows with the same first name are compared with each other", () => {
  const rows = [
    ["start", "embedded", "3.5 ms", "1554"],
    ["start", "real", "5,512 ms", "1"],
    ["creates", "embedded", "862 /s", ""],
    ["creates", "real", "575 /s", ""],
  ];
  assert.deepEqual(texts(["measure", "server", "value", "× real"], rows), [
    ["start: value", "embedded 3.5", "real 5512"],
    ["start: × real", "embedded 1554", "real 1"],
    ["creates: value", "embedded 862", "real 575"],
  ]);
});

test("of a single row of numbers, the columns are compared", () => {
  assert.deepEqual(texts(["start", "stop"], [["9.8", "1.7"]]), [["", "start 9.8", "stop 1.7"]]);
});

test("each result of this repository has something to compare", () => {
  const files = globSync("bench/results/*.md");
  assert.ok(files.length > 0);
  for (const file of files) {
    const { parts } = resultOf(file, readFileSync(file, "utf8"));
    const comparisons = parts.flatMap((part) => (typeof part === "string" ? [] : comparisonsOf(part)));
    assert.ok(comparisons.length > 0 && comparisons.every(({ bars }) => bars.length > 0), file);
  }
});
