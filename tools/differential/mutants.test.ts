import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { mutants } from "./mutants.ts";

test("every mutant changes a text that the server's source has once", () => {
  const lost = mutants.filter(({ file, find }) => {
    const source = readFileSync(new URL(`../../packages/apiserver/src/${file}`, import.meta.url), "utf8");
    return source.split(find).length !== 2;
  });
  assert.deepEqual(
    lost.map(({ name, file }) => `${file}: ${name}`),
    [],
  );
  assert.ok(mutants.length >= 40);
});
