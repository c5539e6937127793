import assert from "node:assert/strict";
import { test } from "node:test";
import type { TimelineEntry } from "./timeline.ts";
import { unansweredWrites } from "./unanswered-writes.ts";

const write = (what: string, result: string): TimelineEntry => ({
  ...{ at: 0, revision: 1, who: "operator", type: "write" },
  ...{ what, result },
});

test("a write that failed when it was last tried is unanswered", () => {
  for (const failure of [
    "connection refused",
    "500, a webhook did not answer",
    "503 ServiceUnavailable",
    "429 Retry",
    "422, a webhook refused it",
    "403, the quota is exhausted",
  ]) {
    assert.deepEqual(unansweredWrites([write("update w/status", failure)]), ["update w/status"]);
    assert.deepEqual(unansweredWrites([write("update w/status", failure), write("update w/status", "200")]), []);
  }
});

test("a write that was accepted or rejected is not", () => {
  for (const result of ["200", "201", "404 NotFound", "409 Conflict", "403 Forbidden", "arrived late: 200"]) {
    assert.deepEqual(unansweredWrites([write("create w", result)]), []);
  }
  const read: TimelineEntry = { ...write("get w", "connection refused"), type: "read" };
  assert.deepEqual(unansweredWrites([read]), []);
});
