// KUDO's own module: its integration tests, and the `kubectl kudo` command that is built from it.
import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { downloadModule } from "@konverge/real";
import { go } from "@konverge/real/go-module.ts";

/** The last release of KUDO. */
export const KUDO_VERSION = "0.19.0";

/** The sources of KUDO. */
export function kudoSources(): string {
  return downloadModule(tmpdir(), `github.com/kudobuilder/kudo@v${KUDO_VERSION}`).Dir;
}

/** A dependency, of which a file behind `kubectl kudo test` alone does not compile with Go 1.18 and newer. */
function copyTestHarness(folder: string): void {
  const { Dir } = downloadModule(tmpdir(), "github.com/kudobuilder/kuttl@v0.8.1");
  cpSync(Dir, folder, { recursive: true });
  execFileSync("chmod", ["-R", "u+w", folder]);
  cpSync(fileURLToPath(new URL("run-tests.go.txt", import.meta.url)), join(folder, "pkg/test/utils/testing.go"));
}

/** The `kubectl-kudo` command, which is built once. */
export function kudoCommand(): string {
  const cache = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "konverge", "kudo");
  const file = join(cache, `kubectl-kudo-${KUDO_VERSION}`);
  if (existsSync(file)) return file;
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, ".build-"));
  try {
    console.error(`building kubectl-kudo ${KUDO_VERSION} …`);
    const sources = kudoSources();
    for (const name of ["go.mod", "go.sum", "cmd", "pkg"])
      cpSync(join(sources, name), join(work, name), { recursive: true });
    execFileSync("chmod", ["-R", "u+w", work]);
    copyTestHarness(join(work, "kuttl"));
    // This module has moved, and its old address does not answer.
    const moved = "v0.0.0-20160121211510-db5cfe13f5cc";
    const replaced = [`vbom.ml/util => github.com/fvbommel/util ${moved}`, "github.com/kudobuilder/kuttl => ./kuttl"];
    appendFileSync(join(work, "go.mod"), replaced.map((one) => `\nreplace ${one}\n`).join(""));
    go(work, ["build", "-trimpath", "-ldflags", "-s -w", "-o", join(work, "kubectl-kudo"), "./cmd/kubectl-kudo"]);
    renameSync(join(work, "kubectl-kudo"), file);
    return file;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
