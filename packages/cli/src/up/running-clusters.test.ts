import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { forgetRunning, notedCluster, notedNames, noteRunning, runFile } from "./running-clusters.ts";

test("a cluster is noted whole or not at all, and half a file says nothing", () => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-run-"));
  try {
    const cluster = { name: "one", pid: 1, url: "https://127.0.0.1:1", kubeconfig: "k", merged: false };
    noteRunning(cluster, folder);
    assert.deepEqual(readdirSync(folder), ["one.json"]);
    assert.deepEqual(notedCluster("one", folder), cluster);
    writeFileSync(runFile("one", "json", folder), '{"name": "o');
    assert.equal(notedCluster("one", folder), undefined);
    assert.deepEqual(notedNames(folder), ["one"]);
    noteRunning(cluster, folder);
    assert.deepEqual(notedCluster("one", folder), cluster);
    forgetRunning("one", folder);
    assert.equal(notedCluster("one", folder), undefined);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
