import { copyFileSync, existsSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { type Clock, sleep } from "@konverge/core";
import { unusable } from "../make-folder.ts";
import { type RunningCluster, runFile } from "../up/running-clusters.ts";
import { UsageError } from "../usage-error.ts";

/** Asks a cluster's process to save its state. */
export const SNAPSHOT_SIGNAL = "SIGUSR2";
/** How long that may take, in milliseconds. */
const PATIENCE = 30_000;

/** Saves the state of a running cluster, Secrets included, to a file that only its owner can read. */
export async function snapshot({ name, pid }: RunningCluster, file: string, clock: Clock): Promise<void> {
  if (process.platform === "win32") {
    throw new UsageError(
      "snapshots of running clusters need a POSIX system: start the cluster with --data, and copy that folder",
    );
  }
  const saved = runFile(name, "snapshot");
  rmSync(saved, { force: true });
  process.kill(pid, SNAPSHOT_SIGNAL);
  const deadline = clock.monotonic() + PATIENCE;
  while (!existsSync(saved)) {
    if (clock.monotonic() > deadline)
      throw new Error(`the cluster ${name} did not save its state within ${PATIENCE / 1000} seconds`);
    await sleep(clock, 20);
  }
  try {
    copyFileSync(saved, resolve(file));
  } catch (error) {
    throw unusable(file, error);
  } finally {
    rmSync(saved, { force: true });
  }
}
