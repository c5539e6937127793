import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { parseYaml } from "@konverge/schema";
import { archivesIn, krewManifest } from "./krew-manifest.ts";

const ROOT = join(import.meta.dirname, "../..");
const release = readFileSync(join(ROOT, ".github/workflows/release.yml"), "utf8");

interface Manifest {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly version: string;
    readonly shortDescription: string;
    readonly platforms: readonly {
      readonly selector: { readonly matchLabels: { readonly os: string; readonly arch: string } };
      readonly uri: string;
      readonly sha256: string;
      readonly bin: string;
      readonly files: readonly { readonly from: string; readonly to: string }[];
    }[];
  };
}

/** Archives as the release makes them: the workflow's own commands, with a small executable. */
function released(): { folder: string; names: string[] } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), "konverge-krew-"));
  writeFileSync(join(folder, "konverge"), "#!/bin/sh\n", { mode: 0o755 });
  const names = [...release.matchAll(/name: (konverge-[\w-]+) \}/g)].map(([, name]) => name!);
  const [, command = ""] = /^ +(tar .*)$/m.exec(release) ?? [];
  for (const name of names) {
    const here = command.replaceAll("release/", `${folder}/`).replaceAll("dist/executable", folder);
    execFileSync("sh", ["-ec", here], { cwd: ROOT, env: { ...process.env, NAME: name } });
  }
  return { folder, names, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

test("the plugin of kubectl is the executable of each platform that a release has", () => {
  using made = released();
  assert.deepEqual(made.names.length, 3);
  const script = join(import.meta.dirname, "krew-manifest.ts");
  execFileSync(process.execPath, ["--disable-warning=ExperimentalWarning", script, made.folder, "v0.1.0"]);
  const [manifest] = parseYaml(readFileSync(join(made.folder, "konverge.yaml"), "utf8")) as [Manifest];
  assert.deepEqual(manifest, krewManifest("v0.1.0", archivesIn(made.folder)));
  const { platforms, shortDescription } = manifest.spec;
  assert.deepEqual(
    platforms.map(({ selector: { matchLabels } }) => `${matchLabels.os}/${matchLabels.arch}`),
    ["linux/arm64", "linux/amd64", "darwin/arm64"],
  );
  // Krew's guide: at most 50 characters, and no dot at the end.
  assert.match(shortDescription, /^[A-Z].{10,48}[^.]$/);
  for (const { uri, sha256, bin, files } of platforms) {
    const file = uri.slice(uri.lastIndexOf("/") + 1);
    assert.equal(uri, `https://github.com/konverge/konverge/releases/download/v0.1.0/${file}`);
    const archive = readFileSync(join(made.folder, file));
    assert.equal(sha256, createHash("sha256").update(archive).digest("hex"));
    const listed = execFileSync("tar", ["-tzf", join(made.folder, file)], { encoding: "utf8" })
      .trim()
      .split("\n");
    assert.deepEqual(files.map(({ from }) => from).sort(), listed.sort());
    assert.ok(listed.includes(bin));
  }
});

test("the release writes the manifest, and a platform without a name of krew is refused", () => {
  assert.match(release, /run: node scripts\/release\/krew-manifest\.ts release "\$GITHUB_REF_NAME"/);
  assert.throws(() => krewManifest("v0.1.0", [{ file: "konverge-plan9-x64.tar.gz", sha256: "" }]), /plan9.*add it/);
  assert.throws(() => krewManifest("0.1.0", archivesIn(ROOT)), /is not a version such as v0\.1\.0/);
  assert.throws(() => krewManifest("v0.1.0", []), /there are no archives/);
});
