import assert from "node:assert/strict";
import { test } from "node:test";
import { Database } from "./database.ts";
import { databaseErrors } from "./database-admission.ts";
import { configFor } from "./database-children.ts";
import { engineOf } from "./engines.ts";
import { acceptedParameters } from "./parameter-rules.ts";

const database = (parameters: Record<string, string>, spec: object = {}) =>
  Database.parse({
    apiVersion: "example.com/v1",
    kind: "Database",
    metadata: { name: "postgres-orders", namespace: "shop" },
    spec: { version: "16.4", size: "5Gi", instances: 3, parameters, ...spec },
  } as never);
const errors = (parameters: Record<string, string>, spec: object = {}, old?: Database) =>
  databaseErrors(database(parameters, spec), old).map(({ field, message }) => `${field} ${message}`);

test("commits that no standby has are not acknowledged: synchronous_commit stays on with synchronous", () => {
  for (const value of ["off", "OFF", "local", "remote_write", "no", "0"]) {
    const [error = "", ...others] = errors({ synchronous_commit: value }, { synchronous: 1 });
    assert.match(
      error,
      /^spec.parameters\[synchronous_commit\] Forbidden: must be on or remote_apply with spec.synchronous \(1\)/,
    );
    assert.match(error, /omit it, or set spec.synchronous to 0/);
    assert.deepEqual(others, []);
  }
  for (const value of ["on", "remote_apply"])
    assert.deepEqual(errors({ synchronous_commit: value }, { synchronous: 1 }), []);
  assert.deepEqual(errors({ synchronous_commit: "off" }), [], "without synchronous, the user decides");
});

test("what loses or hides data is refused in any spelling", () => {
  for (const name of ["fsync", "full_page_writes", "FSYNC"]) {
    for (const value of ["off", "of", "false", "f", "0"]) {
      assert.match(errors({ [name]: value }).join(), /must be on, because without it, a crash corrupts data: omit it/);
    }
    assert.deepEqual(errors({ [name]: "on" }), []);
  }
  for (const name of ["data_sync_retry", "zero_damaged_pages", "ignore_checksum_failure"]) {
    assert.match(errors({ [name]: "on" }).join(), /must be off/);
  }
});

test("what the operator sets is refused, with what to use in its place", () => {
  assert.match(errors({ restore_command: "cp" }).join(), /is set by the operator: .* create a DatabaseRestore/);
  assert.match(errors({ recovery_target_time: "now" }).join(), /create a DatabaseRestore/);
  assert.match(errors({ Archive_Command: "true" }).join(), /spec.backup/);
  assert.match(errors({ ssl: "off" }).join(), /spec.tls/);
  assert.match(errors({ synchronous_standby_names: "*" }).join(), /spec.synchronous/);
  assert.match(errors({ include: "/tmp/more.conf" }).join(), /is set by the operator: omit it/);
});

test("standbys have what they need to follow", () => {
  assert.match(errors({ max_wal_senders: "4" }).join(), /must be at least 5/);
  assert.match(errors({ max_replication_slots: "1" }).join(), /must be at least 2/);
  assert.deepEqual(errors({ max_wal_senders: "4" }, { instances: 1 }), []);
});

test("parameters of MySQL are its own affair", () => {
  assert.deepEqual(errors({ port: "3307", fsync: "off" }, { engine: "mysql", instances: 1 }), []);
});

test("an object from before a rule can be changed, and its servers do without the parameter", () => {
  const old = database({ fsync: "off", work_mem: "8MB" });
  assert.deepEqual(errors({ fsync: "off", work_mem: "9MB" }, {}, old), []);
  assert.equal(errors({ fsync: "off", full_page_writes: "off" }, {}, old).length, 1);
  assert.deepEqual(acceptedParameters(old), { work_mem: "8MB" });
  assert.doesNotMatch(configFor(old, engineOf(old)).data!["postgresql.conf"]!, /fsync/);
});
