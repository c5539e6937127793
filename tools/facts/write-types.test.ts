import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import type { DefinitionFact, DefinitionsFile, ResourcesFile } from "../../packages/kinds/src/fact-types.ts";
import { typeFiles } from "./write-types.ts";

const kinds = new URL("../../packages/kinds/", import.meta.url);
const dataOf = (file: string): unknown => JSON.parse(readFileSync(new URL(`data/${file}`, kinds), "utf8"));

test("the types of built-in kinds are those that the generator writes from the data files", () => {
  const definitions: Record<string, DefinitionFact> = {};
  for (const file of readdirSync(new URL("data/", kinds)).sort()) {
    if (file === "resources.json") continue;
    for (const [name, fact] of Object.entries(dataOf(file) as DefinitionsFile)) {
      definitions[`${file.replace(/\.json$/, "")}.${name}`] = fact;
    }
  }
  const { groups } = dataOf("resources.json") as ResourcesFile;
  for (const [path, text] of typeFiles(definitions, groups)) {
    assert.ok(readFileSync(new URL(path, kinds), "utf8") === text, `packages/kinds/${path} is out of date`);
  }
});
