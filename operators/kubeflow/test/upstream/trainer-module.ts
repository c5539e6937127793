import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The release of Kubeflow Trainer whose API TrainJobs have. */
export const TRAINER_VERSION = "v2.3.0";
const MODULE = "github.com/kubeflow/trainer/v2";

/** The folder with the sources of Kubeflow Trainer, fetched through the Go module proxy; or why there is none. */
export function trainerModule(): { readonly folder: string } | { readonly why: string } {
  const cwd = mkdtempSync(join(tmpdir(), "konverge-trainer-"));
  try {
    const env = { ...process.env, GOWORK: "off" };
    const args = ["mod", "download", "-json", `${MODULE}@${TRAINER_VERSION}`];
    const { status, stdout, stderr, error } = spawnSync("go", args, { cwd, env, encoding: "utf8" });
    if (error) return { why: `Kubeflow Trainer cannot be fetched without Go: ${error.message}` };
    if (status !== 0) return { why: `Kubeflow Trainer cannot be fetched: ${(stdout + stderr).slice(-500)}` };
    return { folder: (JSON.parse(stdout) as { Dir: string }).Dir };
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}
