import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { archiveNames } from "./archive-names.ts";

/** An archive with one file. */
function archive(folder: string, name: string, content: unknown): string {
  writeFileSync(join(folder, name), JSON.stringify(content));
  const file = join(folder, `${name}.tar`);
  execFileSync("tar", ["-C", folder, "-cf", file, name]);
  return file;
}

test("images are named as their archives name them", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-archive-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const docker = archive(folder, "manifest.json", [{ RepoTags: ["example/web:v1", "example/web:latest"] }]);
  assert.deepEqual(await archiveNames(docker), ["docker.io/example/web:v1", "docker.io/example/web:latest"]);
  const named = (annotations: Record<string, string>) =>
    archive(folder, "index.json", { schemaVersion: 2, manifests: [{ annotations }] });
  const oci = named({
    "io.containerd.image.name": "docker.io/library/web:v1",
    "org.opencontainers.image.ref.name": "v1",
  });
  assert.deepEqual(await archiveNames(oci), ["docker.io/library/web:v1"]);
  const full = named({ "org.opencontainers.image.ref.name": "localhost/web:v2" });
  assert.deepEqual(await archiveNames(full), ["localhost/web:v2"]);
  await assert.rejects(archiveNames(named({ "org.opencontainers.image.ref.name": "v2" })), /does not name its image/);
  await assert.rejects(archiveNames(archive(folder, "other.json", {})), /neither a Docker archive nor an OCI archive/);
});
