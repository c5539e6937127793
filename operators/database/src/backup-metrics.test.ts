import assert from "node:assert/strict";
import { test } from "node:test";
import { backupNumbers, Database, type DatabaseBackup } from "@konverge/database-operator";

const database = Database.parse({
  apiVersion: "example.com/v1",
  kind: "Database",
  metadata: { name: "postgres-orders", namespace: "shop" },
  spec: { version: "16.4", size: "5Gi", backup: { schedule: "0 3 * * *" } },
} as never);

const backup = (name: string, made: string, status: object, of = "postgres-orders") =>
  ({
    apiVersion: "example.com/v1",
    kind: "DatabaseBackup",
    metadata: { name, namespace: "shop", creationTimestamp: made },
    spec: { database: of },
    status,
  }) as DatabaseBackup;

const whole = backup("one", "2026-03-01T03:00:00Z", {
  phase: "Completed",
  startedAt: "2026-03-01T03:00:05Z",
  stoppedAt: "2026-03-01T03:02:05.500000Z",
  size: 1234,
});

test("without backups nothing is reported about the last one", () => {
  assert.deepEqual(backupNumbers(database, []), { scheduled: 1, failed: 0 });
});

test("the last complete backup is reported: when it ended, how long it took, how large it is", () => {
  const older = backup("old", "2026-02-01T03:00:00Z", { phase: "Expired", stoppedAt: "2026-02-01T03:00:09Z", size: 1 });
  const other = backup("other", "2026-04-01T03:00:00Z", { phase: "Completed", stoppedAt: "2026-04-01T03:00:09Z" }, "x");
  const stopped = Date.parse("2026-03-01T03:02:05.500Z") / 1000;
  const numbers = { scheduled: 1, failed: 0, stopped, duration: 120.5, size: 1234 };
  assert.deepEqual(backupNumbers(database, [whole, older, other]), numbers);
});

test("a failed backup is reported until a later one is complete, and does not hide the last complete one", () => {
  const failed = backup("two", "2026-03-02T03:00:00Z", { phase: "Failed" });
  const running = backup("three", "2026-03-03T03:00:00Z", { phase: "Running" });
  const numbers = backupNumbers(database, [failed, whole, running]);
  assert.deepEqual([numbers.failed, numbers.size], [1, 1234]);
  const newer = { ...whole, metadata: { ...whole.metadata, creationTimestamp: "2026-03-04T03:00:00Z" } };
  assert.equal(backupNumbers(database, [failed, newer]).failed, 0);
});
