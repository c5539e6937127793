import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { konverge } from "./program.ts";

test("the command has the version of its package", () => {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  const fail = (error: unknown): never => assert.fail(String(error));
  assert.equal(konverge(fail).version(), (JSON.parse(manifest) as { version: string }).version);
});
