import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { KnownDifferences } from "./known-differences.ts";

test("each known difference is limited to a path: one without would mask whole kinds and verbs", () => {
  assert.ok(new KnownDifferences(new URL("known-differences.yaml", import.meta.url)).count > 0);
  const folder = mkdtempSync(join(tmpdir(), "konverge-known-"));
  try {
    const file = join(folder, "broad.yaml");
    writeFileSync(file, "- reason: jobs differ\n  script: jobs\n  what: ^PUT\n");
    assert.throws(() => new KnownDifferences(pathToFileURL(file)), /has no path: .*jobs differ/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
