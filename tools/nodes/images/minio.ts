import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { imageCache } from "./cache.ts";
import type { DebianImage } from "./debian-image.ts";
import { SYSTEM_PATH } from "./server-images.ts";

const MODULE = "github.com/minio/minio";
const VERSION = "v0.0.0-20260212201848-7aac2a2c5b7c";

/** Why MinIO cannot be built here; false if it can. */
export function whyNoMinio(): string | false {
  return spawnSync("go", ["version"]).status !== 0 && "MinIO is built with Go: install Go 1.26 or newer";
}

/** MinIO's program out of the Go module proxy, built once for each version. */
function minioProgram(): string {
  const folder = join(imageCache(), "go");
  const program = join(folder, `minio-${VERSION}`);
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(join(folder, ".build-"));
  try {
    const env = { ...process.env, GOBIN: work, CGO_ENABLED: "0", GOFLAGS: "-buildvcs=false" };
    execFileSync("go", ["install", "-ldflags", "-s -w", `${MODULE}@${VERSION}`], {
      env,
      stdio: ["ignore", "ignore", "inherit"],
    });
    renameSync(join(work, "minio"), program);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return program;
}

/** MinIO, an object store with the S3 API: a program without libraries, and the folder that a volume is mounted at. */
export const minio: DebianImage = {
  name: "docker.io/minio/minio:2026-02-12",
  packages: ["base-files"],
  without: ["mawk", "libc", "gcc", "libcrypt"],
  config: { User: "1000", Env: [`PATH=${SYSTEM_PATH}`, "HOME=/tmp"], Entrypoint: ["minio"] },
  contents: [VERSION],
  finish: (root) => {
    mkdirSync(join(root, "usr/local/bin"), { recursive: true });
    copyFileSync(minioProgram(), join(root, "usr/local/bin/minio"));
    chmodSync(join(root, "usr/local/bin/minio"), 0o755);
  },
};
