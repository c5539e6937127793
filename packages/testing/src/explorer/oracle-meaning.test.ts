import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ORACLE_MEANINGS } from "./oracle-meaning.ts";

test("what a finding means is what the guide says", () => {
  const page = readFileSync(new URL("../../../../docs/guide/explorer.md", import.meta.url), "utf8");
  const table = page.slice(page.indexOf("| oracle |"), page.indexOf("A finding without faults"));
  const rows = [...table.matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)].map(([, oracle, meaning = ""]) => [
    oracle,
    meaning.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1").replaceAll("`", ""),
  ]);
  assert.deepEqual(Object.fromEntries(rows), { ...ORACLE_MEANINGS });
});
