import assert from "node:assert/strict";
import { test } from "node:test";
import { type EntryPoint, entryPoints, exportsIn } from "./entry-points.ts";
import { memberProblems, namingProblems } from "./rules.ts";

const entry = (specifier: string, text: string): EntryPoint => ({
  specifier,
  file: `${specifier}.ts`,
  ...exportsIn(text, `${specifier}.ts`),
});

test("the names of the published entry points keep the rules", () => {
  assert.deepEqual(namingProblems(entryPoints()), []);
});

test("an entry point is made of explicit lists", () => {
  assert.throws(() => exportsIn('export * from "@konverge/core";', "a.ts"), /a\.ts: an entry point has only lists/);
  assert.throws(() => exportsIn("export const a = 1;", "a.ts"), /an entry point has only lists/);
  assert.deepEqual(exportsIn('/**\n * About it.\n */\nexport { type A, b as c } from "x";', "a.ts"), {
    comment: "About it.",
    names: [
      { name: "A", isType: true, origin: "x A" },
      { name: "c", isType: false, origin: "x b" },
    ],
  });
});

test("the root exports at most 60 values; types do not count", () => {
  const list = (count: number) => Array.from({ length: count }, (_, i) => `v${i}, type T${i}`).join(", ");
  assert.deepEqual(namingProblems([entry("konverge", `export { ${list(60)} } from "x";`)]), []);
  assert.deepEqual(namingProblems([entry("konverge", `export { ${list(61)} } from "x";`)]), [
    "konverge exports 61 values: the limit is 60; move some to an entry point by theme",
  ]);
});

test("a name has one meaning and one entry point", () => {
  const same = [entry("konverge", 'export { a } from "x";'), entry("konverge/b", 'export { a } from "x";')];
  assert.deepEqual(namingProblems(same), ["a is exported by konverge and by konverge/b: choose one"]);
  const other = [entry("konverge", 'export { a } from "x";'), entry("@konverge/dev", 'export type { a } from "y";')];
  assert.deepEqual(namingProblems(other), ["a has two meanings: x a in konverge, y a in @konverge/dev"]);
  const renamed = [entry("konverge", 'export { a } from "x";'), entry("konverge/b", 'export { a as b } from "x";')];
  assert.deepEqual(namingProblems(renamed), [
    "x a is exported under two names, in konverge and in konverge/b: choose one",
  ]);
});

test("other versions of a kind bear its name", () => {
  const kinds = [
    entry("konverge/kinds", 'export { Event } from "x";'),
    entry("konverge/kinds/events.v1", 'export { Event } from "y";'),
  ];
  assert.deepEqual(namingProblems(kinds), []);
});

test("names that say nothing without their import line are refused, as exports, options and context members", () => {
  assert.deepEqual(namingProblems([entry("konverge", 'export { yes } from "x";')]), [
    "konverge exports yes: choose a name that is understood without its import line",
  ]);
  assert.deepEqual(memberProblems("konverge", "RunOptions", ["client", "quiet"]), [
    "konverge: RunOptions.quiet: choose a name that says what it sets",
  ]);
  assert.deepEqual(memberProblems("konverge", "Log", ["child"]), []);
});
