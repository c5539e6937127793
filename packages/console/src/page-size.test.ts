import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { pageFiles } from "./page-files.ts";

test("the page has at most 300 kB compressed, and names no other host", async () => {
  const files = await pageFiles();
  const size = [...files.values()].reduce((sum, text) => sum + gzipSync(text).length, 0);
  assert.ok(size < 300_000, `${size} bytes`);
  const hosts = new Set([...files.values()].flatMap((text) => text.match(/https?:\/\/[\w.]+/g) ?? []));
  // Names of XML namespaces, and addresses in error messages of libraries: nothing that is loaded.
  for (const host of hosts) assert.match(host, /^https?:\/\/(www\.w3\.org|yaml\.org|eemeli\.org|localhost)$/);
});
