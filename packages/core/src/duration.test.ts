import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  ageSince,
  DurationError,
  durationMs,
  formatDuration,
  formatDurationMs,
  humanDuration,
  parseDuration,
} from "./duration.ts";

/** What Go's time package makes of each text. */
const PARSED: [text: string, nanoseconds: bigint, printed: string][] = [
  ["0", 0n, "0s"],
  ["-0", 0n, "0s"],
  ["1h30m", 5_400_000_000_000n, "1h30m0s"],
  ["100ms", 100_000_000n, "100ms"],
  ["1.5s", 1_500_000_000n, "1.5s"],
  ["-1.5s", -1_500_000_000n, "-1.5s"],
  ["+5s", 5_000_000_000n, "5s"],
  [".5s", 500_000_000n, "500ms"],
  ["1.s", 1_000_000_000n, "1s"],
  ["90m", 5_400_000_000_000n, "1h30m0s"],
  ["61s", 61_000_000_000n, "1m1s"],
  ["1us", 1_000n, "1µs"],
  ["1µs", 1_000n, "1µs"],
  ["1μs", 1_000n, "1µs"],
  ["1501ns", 1_501n, "1.501µs"],
  ["999ns", 999n, "999ns"],
  ["0.3333333333333333333h", 1_200_000_000_000n, "20m0s"],
  [`0.${"1".repeat(400)}s`, 111_111_111n, "111.111111ms"],
  ["2562047h47m16.854775807s", 9_223_372_036_854_775_807n, "2562047h47m16.854775807s"],
  ["-9223372036854775808ns", -9_223_372_036_854_775_808n, "-2562047h47m16.854775808s"],
];

for (const [text, nanoseconds, printed] of PARSED) {
  test(`${text} is printed as ${printed}`, () => {
    assert.equal(parseDuration(text), nanoseconds);
    assert.equal(formatDuration(nanoseconds), printed);
  });
}

for (const [text, message] of [
  ["", 'time: invalid duration ""'],
  ["-", 'time: invalid duration "-"'],
  ["abc", 'time: invalid duration "abc"'],
  [".s", 'time: invalid duration ".s"'],
  ["1", 'time: missing unit in duration "1"'],
  ["1.5", 'time: missing unit in duration "1.5"'],
  ["1d", 'time: unknown unit "d" in duration "1d"'],
  ['1é"s', String.raw`time: unknown unit "\xc3\xa9\"s" in duration "1\xc3\xa9\"s"`],
  ["9223372036854775808ns", 'time: invalid duration "9223372036854775808ns"'],
  ["99999999999999999999x", 'time: invalid duration "99999999999999999999x"'],
] as const) {
  test(`${JSON.stringify(text)} is refused in Go's words`, () => {
    assert.throws(
      () => parseDuration(text),
      (error) => error instanceof DurationError && error.message === message,
    );
  });
}

test("milliseconds convert both ways", () => {
  assert.equal(durationMs("1m0.5s"), 60_500);
  assert.equal(durationMs("1us"), 0.001);
  assert.equal(formatDurationMs(60_500), "1m0.5s");
  assert.equal(formatDurationMs(0.001), "1µs");
});

test("every duration survives printing and parsing", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (nanoseconds) => {
      // Go reads fractional seconds in floating point, exact for nine digits.
      assert.equal(parseDuration(formatDuration(nanoseconds)), nanoseconds);
    }),
  );
});

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** What apimachinery's duration package shows, at each border between two forms. */
const AGES: [ms: number, human: string][] = [
  [-2 * SECOND, "<invalid>"],
  [-2 * SECOND + 1, "0s"],
  [0, "0s"],
  [SECOND - 1, "0s"],
  [MINUTE - 1, "59s"],
  [MINUTE, "60s"],
  [2 * MINUTE - 1, "119s"],
  [2 * MINUTE, "2m"],
  [2 * MINUTE + SECOND, "2m1s"],
  [10 * MINUTE - 1, "9m59s"],
  [10 * MINUTE + SECOND, "10m"],
  [3 * HOUR - 1, "179m"],
  [3 * HOUR, "3h"],
  [3 * HOUR + MINUTE, "3h1m"],
  [8 * HOUR + 59 * MINUTE, "8h"],
  [2 * DAY - 1, "47h"],
  [2 * DAY, "2d"],
  [5 * DAY + 3 * HOUR, "5d3h"],
  [8 * DAY + 23 * HOUR, "8d"],
  [YEAR, "365d"],
  [2 * YEAR - 1, "729d"],
  [2 * YEAR + 23 * HOUR, "2y"],
  [2 * YEAR + 45 * DAY, "2y45d"],
  [8 * YEAR - 1, "7y364d"],
  [8 * YEAR + 364 * DAY, "8y"],
];

test("ages are shown as kubectl shows them", () => {
  for (const [ms, human] of AGES) {
    assert.equal(humanDuration(ms), human, `${ms} ms`);
  }
});

test("an object's age counts from its timestamp", () => {
  const now = Date.UTC(2026, 0, 1, 0, 5, 10);
  assert.equal(ageSince("2026-01-01T00:00:00Z", now), "5m10s");
  assert.equal(ageSince(undefined, now), "<unknown>");
});
