import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf, linkTo } from "./addresses.ts";

const listed = new Set([
  "README.md",
  "CHANGELOG.md",
  "docs/guide/concepts.md",
  "docs/decisions/README.md",
  "docs/reference/api/dev.md",
  "operators/llm/README.md",
  "operators/llm/BACKUPS.md",
  "examples",
  "examples/01-children",
]);
const file = (path: string) => addressOf({ path, folder: false }, listed)?.file;
const folder = (path: string) => addressOf({ path, folder: true }, listed)?.file;

test("pages keep their paths, without docs/", () => {
  assert.equal(file("docs/guide/concepts.md"), "guide/concepts.md");
  assert.equal(file("docs/decisions/README.md"), "decisions/index.md");
  assert.equal(file("operators/llm/README.md"), "operators/llm/index.md");
  assert.equal(file("operators/llm/BACKUPS.md"), "operators/llm/backups.md");
  assert.equal(file("CHANGELOG.md"), "changelog.md");
  assert.equal(file("README.md"), "readme.md");
});

test("a folder leads to its README, to a list of its pages, or to a list of its sources", () => {
  assert.equal(folder("operators/llm"), "operators/llm/index.md");
  assert.equal(folder("docs/reference/api"), "reference/api/index.md");
  assert.equal(folder("operators/llm/samples"), "source/operators/llm/samples/index.md");
});

test("an example is one page, for its files too", () => {
  assert.equal(folder("examples"), "examples/index.md");
  assert.equal(folder("examples/01-children"), "examples/01-children.md");
  assert.equal(file("examples/01-children/children.ts"), "examples/01-children.md");
  assert.equal(file("examples/test/place.ts"), "source/examples/test/place.ts.md");
});

test("other files are sources; a Markdown file that is not listed has no address", () => {
  assert.equal(file("scripts/run.mjs"), "source/scripts/run.mjs.md");
  assert.equal(file("docs/guide/forgotten.md"), undefined);
});

test("links to an index lead to its folder", () => {
  assert.equal(linkTo("index.md"), "/");
  assert.equal(linkTo("decisions/index.md"), "/decisions/");
  assert.equal(linkTo("guide/concepts.md"), "/guide/concepts.md");
});
