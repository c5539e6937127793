import assert from "node:assert/strict";
import { test } from "node:test";
import { parseRequestUri } from "./go-url.ts";

test("a URL of a mebibyte is read once, whatever is repeated in it", { timeout: 20_000 }, () => {
  assert.equal(parseRequestUri(`/${"é".repeat(500_000)}`).escapedPath.length, 3_000_001);
  assert.equal(parseRequestUri(`/?${"a=1&".repeat(250_000)}b=2`).query.get("a")?.length, 250_000);
});
