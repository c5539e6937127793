import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { isWrite, recordMachineUse } from "./machine-use.ts";

test("what a process does to its machine is recorded, in modules that were loaded before as well", async () => {
  const missing = join(import.meta.dirname, "missing", "file");
  using use = recordMachineUse();
  await writeFile(missing, "").catch(() => {});
  await mkdir(missing).catch(() => {});
  assert.throws(() => openSync(missing, "a"));
  assert.throws(() => openSync(missing, "r"));
  spawnSync(join(import.meta.dirname, "missing"));
  await once(connect(1, "127.0.0.1"), "error");
  assert.deepEqual(
    use.files.map(({ operation, path }) => [operation, path]),
    ["writeFile", "mkdir", "openSync for writing", "openSync"].map((operation) => [operation, missing]),
  );
  assert.deepEqual(use.files.map(isWrite), [true, true, true, false]);
  assert.deepEqual(use.processes, [join(import.meta.dirname, "missing")]);
  assert.deepEqual(use.connections, ["127.0.0.1:1"]);
});
