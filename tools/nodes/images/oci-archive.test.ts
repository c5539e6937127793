import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { writeOciArchive } from "./oci-archive.ts";

const onLinux = { skip: process.platform !== "linux" && "the archive is written by GNU tar" };

test("an archive holds the files and the configuration of its image, each under its digest", onLinux, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-oci-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const root = join(folder, "root");
  mkdirSync(join(root, "etc"), { recursive: true });
  writeFileSync(join(root, "etc/greeting"), "hello");
  const file = join(folder, "image.tar");
  const config = { User: "999", Cmd: ["serve"] };
  await writeOciArchive({ name: "docker.io/example/web:v1", root, config }, join(folder, "work"), file);

  const read = (path: string) => execFileSync("tar", ["-xOf", file, path]);
  const blob = ({ digest, size }: { digest: string; size: number }) => {
    const bytes = read(`blobs/${digest.replace(":", "/")}`);
    assert.deepEqual([digest, size], [`sha256:${createHash("sha256").update(bytes).digest("hex")}`, bytes.length]);
    return bytes;
  };
  const [entry] = JSON.parse(read("index.json").toString()).manifests;
  assert.equal(entry.annotations["io.containerd.image.name"], "docker.io/example/web:v1");
  assert.equal(entry.annotations["org.opencontainers.image.ref.name"], "v1");
  const manifest = JSON.parse(blob(entry).toString());
  assert.deepEqual(JSON.parse(blob(manifest.config).toString()).config, config);
  const layer = blob(manifest.layers[0]);
  assert.equal(execFileSync("tar", ["-xO", "./etc/greeting"], { input: layer, encoding: "utf8" }), "hello");
});
