import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { findControlPlane } from "@konverge/real";

const here = fileURLToPath(new URL(".", import.meta.url));
const command = fileURLToPath(new URL("../../../cli/bin/konverge.js", import.meta.url));
const go = spawnSync("go", ["version"], { encoding: "utf8" });
const skip = go.status === 0 ? false : "Go is not installed";

test("an envtest suite in Go runs on the embedded cluster as on the real binaries", { skip }, (t) => {
  const folder = mkdtempSync(join(tmpdir(), "envtest-go-"));
  try {
    const suite = join(folder, "suite.test");
    const built = spawnSync("go", ["test", "-c", "-o", suite, "."], { cwd: here, encoding: "utf8", timeout: 900_000 });
    assert.equal(built.status, 0, built.stderr);
    const run = (assets: string) =>
      spawnSync(suite, ["-test.v"], {
        cwd: here,
        encoding: "utf8",
        timeout: 120_000,
        env: { ...process.env, KUBEBUILDER_ASSETS: assets },
      });
    const embedded = join(folder, "assets");
    const written = spawnSync(process.execPath, [command, "envtest", "--folder", embedded], { encoding: "utf8" });
    assert.equal(written.stdout.trim(), embedded, written.stderr);
    const ours = run(embedded);
    assert.equal(ours.status, 0, ours.stdout + ours.stderr);
    t.diagnostic(`embedded: ${/environment started in .*/.exec(ours.stdout)?.[0]}`);
    const plane = findControlPlane();
    if (!plane.available) return;
    const real = run(plane.folder);
    assert.equal(real.status, 0, real.stdout + real.stderr);
    t.diagnostic(`real: ${/environment started in .*/.exec(real.stdout)?.[0]}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
