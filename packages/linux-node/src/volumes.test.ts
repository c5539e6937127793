import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { LinuxNode } from "./linux-node.ts";
import { createVolume, deleteVolume } from "./volumes.ts";

test("volumes are folders below their node's folder, and no name leads out of it", async () => {
  const root = mkdtempSync(join(tmpdir(), "konverge-volumes-"));
  const volumes = join(root, "volumes");
  mkdirSync(join(root, "other"));
  const node = { volumes } as LinuxNode;
  try {
    assert.equal(await createVolume(node, "pvc-1"), "/var/lib/konverge/volumes/pvc-1");
    assert.ok(existsSync(join(volumes, "pvc-1")));
    for (const name of ["../other", "..", ".", "", "a/b", "/etc"]) {
      await assert.rejects(createVolume(node, name), /is not the name of a volume/);
      await assert.rejects(deleteVolume(node, name), /is not the name of a volume/);
    }
    await deleteVolume(node, "pvc-1");
    assert.ok(!existsSync(join(volumes, "pvc-1")));
    assert.ok(existsSync(join(root, "other")));
  } finally {
    rmSync(root, { recursive: true });
  }
});
