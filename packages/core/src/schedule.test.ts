import assert from "node:assert/strict";
import { test } from "node:test";
import { lastDue, parseSchedule } from "./schedule.ts";

const next = (schedule: string, after: string, zone?: string): string | undefined => {
  const time = parseSchedule(schedule, zone).next(Date.parse(after));
  return time === undefined ? undefined : new Date(time).toISOString().slice(0, 16);
};

test("fields are lists, ranges, steps and names", () => {
  assert.equal(next("30 4 * * *", "2026-01-01T04:30:00Z"), "2026-01-02T04:30");
  assert.equal(next("*/15 9-17 * * MON-FRI", "2026-01-02T17:46:00Z"), "2026-01-05T09:00");
  assert.equal(next("0 0 1 JAN,jul *", "2026-01-01T00:00:00Z"), "2026-07-01T00:00");
  assert.equal(next("5/20 * * * ?", "2026-01-01T00:06:00Z"), "2026-01-01T00:25");
});

test("where day of month and day of week are both given, either will do", () => {
  assert.equal(next("0 0 13 * 5", "2026-01-02T00:00:00Z"), "2026-01-09T00:00");
  assert.equal(next("0 0 13 * *", "2026-01-02T00:00:00Z"), "2026-01-13T00:00");
});

test("macros stand for schedules, and @every for an interval", () => {
  assert.equal(next("@hourly", "2026-01-01T00:00:00Z"), "2026-01-01T01:00");
  assert.equal(next("@weekly", "2026-01-01T00:00:00Z"), "2026-01-04T00:00");
  assert.equal(next("@yearly", "2026-01-01T00:00:00Z"), "2027-01-01T00:00");
  assert.equal(next("@every 1h30m", "2026-01-01T00:00:00Z"), "2026-01-01T01:30");
});

test("a leap day comes, a 30th of February never", () => {
  assert.equal(next("0 0 29 2 *", "2026-01-01T00:00:00Z"), "2028-02-29T00:00");
  assert.equal(next("0 0 30 2 *", "2026-01-01T00:00:00Z"), undefined);
});

test("a schedule is read on the clock of its place", () => {
  assert.equal(next("0 9 * * *", "2026-01-01T00:00:00Z", "America/New_York"), "2026-01-01T14:00");
  assert.equal(next("0 9 * * *", "2026-07-01T00:00:00Z", "America/New_York"), "2026-07-01T13:00");
  assert.equal(next("CRON_TZ=Asia/Kolkata 0 9 * * *", "2026-01-01T00:00:00Z"), "2026-01-01T03:30");
});

test("an hour that clocks skip is skipped, one that they show twice counts twice", () => {
  // In Berlin, 02:30 does not exist on 29 March 2026, and exists twice on 25 October.
  assert.equal(next("30 2 * * *", "2026-03-28T12:00:00Z", "Europe/Berlin"), "2026-03-30T00:30");
  assert.equal(next("30 2 * * *", "2026-10-24T12:00:00Z", "Europe/Berlin"), "2026-10-25T00:30");
  assert.equal(next("30 2 * * *", "2026-10-25T00:30:00Z", "Europe/Berlin"), "2026-10-25T01:30");
});

test("what is no schedule is refused with the reason", () => {
  const refuses = (schedule: string, why: RegExp) => assert.throws(() => parseSchedule(schedule), why);
  refuses("* * * *", /expected exactly 5 fields, found 4/);
  refuses("60 * * * *", /end of range \(60\) above maximum \(59\): 60/);
  refuses("5-1 * * * *", /beginning of range \(5\) beyond end of range \(1\): 5-1/);
  refuses("*/0 * * * *", /step of range should be a positive number/);
  refuses("x * * * *", /failed to parse int from x/);
  refuses("@never", /unrecognized descriptor: @never/);
  assert.throws(() => parseSchedule("* * * * *", "Nowhere/Town"), /unknown time zone Nowhere\/Town/);
});

test("the last moment that was due is the same at each time until the next one", () => {
  const since = Date.parse("2026-01-01T00:10:30Z");
  for (const text of ["@every 7s", "@every 1h30m", "*/5 * * * *", "0,1 * * * *", "0 9 * * MON-FRI", "0 0 29 2 *"]) {
    const schedule = parseSchedule(text);
    let expected: number | undefined;
    let upcoming = schedule.next(since)!;
    for (let now = since; now < since + 4 * 86_400_000; now += 1_234_567) {
      for (; upcoming <= now; upcoming = schedule.next(upcoming)!) expected = upcoming;
      assert.equal(lastDue(schedule, since, now)?.time, expected, `${text} at ${new Date(now).toISOString()}`);
    }
  }
});
