import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "konverge/kinds";
import { spanSeconds } from "./backup-spec.ts";
import { parseTaskReport, taskReport } from "./task-report.ts";

const ended = (finishedAt: string, exitCode: number, message?: string): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: finishedAt },
  spec: { containers: [] },
  status: {
    containerStatuses: [
      {
        name: "backup",
        image: "",
        imageID: "",
        ready: false,
        restartCount: 0,
        state: { terminated: { exitCode, finishedAt, ...(message !== undefined && { message }) } },
      },
    ],
  },
});

test("a report is lines of name=value; values may have = in them", () => {
  assert.deepEqual(parseTaskReport("size=10\nerror=a=b\nno line of ours\nempty=\n", 1), { size: "10", error: "a=b" });
});

test("a script that could not say why it failed is spoken for by the end of its log", () => {
  assert.equal(
    parseTaskReport("first line\nsh: pg_basebackup: not found\n", 127)["error"],
    "sh: pg_basebackup: not found",
  );
  assert.equal(parseTaskReport("", 137)["error"], "the script exited with code 137");
  assert.deepEqual(parseTaskReport("", 0), {});
});

test("of several pods the last to end counts", () => {
  const pods = [ended("2026-01-01T00:02:00Z", 0, "size=2"), ended("2026-01-01T00:01:00Z", 1, "error=no")];
  assert.deepEqual(taskReport(pods), { size: "2" });
  assert.deepEqual(taskReport([]), {});
});

test("time spans are seconds", () => {
  assert.deepEqual(["30s", "5m", "36h", "14d"].map(spanSeconds), [30, 300, 129_600, 1_209_600]);
});
