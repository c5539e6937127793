import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDuration } from "./duration.ts";
import { resolveIntOrPercent } from "./int-or-string.ts";
import { parseJson } from "./json.ts";
import { parseLabelSelector } from "./label-selector-parser.ts";
import { exceeds64Bits } from "./long-integer.ts";

test("integers beyond 64 bits are recognized by their digits, leading zeros aside", () => {
  for (const text of ["0", "-9223372036854775808", "18446744073709551615", `+${"0".repeat(100)}1`])
    assert.equal(exceeds64Bits(text), false, text);
  for (const text of ["184467440737095516150", `-${"9".repeat(100)}`]) assert.equal(exceeds64Bits(text), true, text);
});

// As a bigint, each of these would take minutes.
test("a number of millions of digits is read, or refused, in linear time", { timeout: 20_000 }, () => {
  const digits = "9".repeat(20_000_000);
  assert.equal(parseJson(digits), Number.POSITIVE_INFINITY);
  assert.equal(parseJson(`-${digits}`), Number.NEGATIVE_INFINITY);
  assert.throws(() => parseDuration(`${digits}s`), { name: "DurationError" });
  assert.throws(() => resolveIntOrPercent(`${digits}%`, 10, "up"), /value out of range/);
  assert.throws(() => parseLabelSelector(`a>${digits}`), { name: "SelectorError" });
});
