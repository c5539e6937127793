import assert from "node:assert/strict";
import { test } from "node:test";
import { affectedTests } from "./affected-tests.ts";
import { importsIn } from "./layering/imports.ts";

const sources = {
  "packages/core/src/index.ts": 'export * from "./clock.ts";',
  "packages/core/src/clock.ts": "",
  "packages/core/src/clock.test.ts": 'import "./clock.ts";',
  "packages/core/src/names.ts": "",
  "packages/core/src/names.test.ts": 'import { n } from "./names.ts";',
  "packages/client/src/watch.ts": 'import type { Clock } from "@konverge/core";',
  "packages/client/src/watch.test.ts": 'import { w } from "./watch.ts";',
};
const graph = {
  imports: importsIn(new Map(Object.entries(sources))),
  exports: new Map([["@konverge/core", "packages/core/src/index.ts"]]),
};
const tests = Object.keys(sources).filter((file) => file.endsWith(".test.ts"));

test("a change affects the tests that import it, also through other files and packages", () => {
  assert.deepEqual(affectedTests(tests, ["packages/core/src/clock.ts"], graph), [
    "packages/core/src/clock.test.ts",
    "packages/client/src/watch.test.ts",
  ]);
  assert.deepEqual(affectedTests(tests, ["packages/core/src/names.ts"], graph), ["packages/core/src/names.test.ts"]);
});

test("a changed test affects itself, a file that is not a module the tests of its package", () => {
  assert.deepEqual(affectedTests(tests, ["packages/core/src/names.test.ts"], graph), [
    "packages/core/src/names.test.ts",
  ]);
  assert.deepEqual(affectedTests(tests, ["packages/client/samples/a.yaml"], graph), [
    "packages/client/src/watch.test.ts",
  ]);
});

test("what all tests depend on affects all of them; documentation none", () => {
  assert.deepEqual(affectedTests(tests, ["package-lock.json"], graph), tests);
  assert.deepEqual(affectedTests(tests, ["docs/guide/testing.md"], graph), []);
});
