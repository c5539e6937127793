// node scripts/release/krew-manifest.ts FOLDER VERSION
// Writes FOLDER/konverge.yaml: the manifest by which krew, the plugin manager of kubectl, installs the executables that are packed in
// FOLDER as konverge-linux-x64.tar.gz and the like.
import { createHash } from "node:crypto";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { printYaml } from "@konverge/schema";

/** Where releases are. */
const REPOSITORY = "https://github.com/konverge/konverge";
const NAME = "konverge";

/** A packed executable. */
export interface Archive {
  /** `konverge-linux-x64.tar.gz`. */
  readonly file: string;
  readonly sha256: string;
}

/** Names of Node's platforms, as krew has them. */
const SYSTEMS: Readonly<Record<string, string>> = { linux: "linux", macos: "darwin" };
const PROCESSORS: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/** The manifest of a version such as `v0.1.0`. */
export function krewManifest(version: string, archives: readonly Archive[]): object {
  if (!/^v\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) throw new TypeError(`${version} is not a version such as v0.1.0`);
  if (archives.length === 0) throw new TypeError("there are no archives such as konverge-linux-x64.tar.gz");
  return {
    apiVersion: "krew.googlecontainertools.github.com/v1alpha2",
    kind: "Plugin",
    metadata: { name: NAME },
    spec: {
      version,
      homepage: REPOSITORY,
      shortDescription: "Start an embedded Kubernetes cluster",
      description: `Starts an embedded Kubernetes cluster in one process: API server, built-in
controllers, scheduler and simulated nodes, for development and tests.
It needs no container runtime.

  kubectl konverge up --background
  kubectl konverge down
`,
      platforms: archives.map((archive) => ({
        selector: { matchLabels: platformOf(archive.file) },
        uri: `${REPOSITORY}/releases/download/${version}/${archive.file}`,
        sha256: archive.sha256,
        files: [
          { from: NAME, to: "." },
          { from: "LICENSE", to: "." },
        ],
        bin: NAME,
      })),
    },
  };
}

function platformOf(file: string): { os: string; arch: string } {
  const [, system = "", processor = ""] = /^konverge-([a-z]+)-([a-z0-9]+)\.tar\.gz$/.exec(file) ?? [];
  const [os, arch] = [SYSTEMS[system], PROCESSORS[processor]];
  if (!os || !arch) throw new TypeError(`${file}: no platform of krew has this name: add it to krew-manifest.ts`);
  return { os, arch };
}

/** The archives of a folder, in the order of their names. */
export function archivesIn(folder: string): Archive[] {
  return globSync("konverge-*.tar.gz", { cwd: folder })
    .sort()
    .map((file) => ({
      file,
      sha256: createHash("sha256")
        .update(readFileSync(join(folder, file)))
        .digest("hex"),
    }));
}

if (import.meta.main) {
  const [folder = "", version = ""] = process.argv.slice(2);
  const path = join(folder, `${NAME}.yaml`);
  writeFileSync(path, printYaml(krewManifest(version, archivesIn(folder))));
  console.log(`${path} written`);
}
