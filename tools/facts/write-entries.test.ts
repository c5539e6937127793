import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { entryFiles } from "./write-entries.ts";

const kinds = fileURLToPath(new URL("../../packages/kinds/", import.meta.url));

test("the published entry points of built-in kinds name everything that the generated modules have", () => {
  const modules = globSync("src/generated/**/*.ts", { cwd: kinds });
  const texts = new Map(modules.map((path) => [path, readFileSync(join(kinds, path), "utf8")]));
  const entries = entryFiles(texts);
  assert.deepEqual(
    entries.map(([path]) => path.replace("../konverge/src/generated/", "")),
    ["kinds.ts", "kinds/autoscaling.v1.ts", "kinds/events.v1.ts"],
  );
  for (const [path, text] of entries) {
    assert.equal(readFileSync(join(kinds, path), "utf8"), text, `${path} is out of date: run "npm run facts"`);
  }
});
