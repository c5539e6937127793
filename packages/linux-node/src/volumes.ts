import { chmod, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { LinuxNode } from "./linux-node.ts";
import { VOLUMES } from "./node-files.ts";

/** Makes an empty volume that any user may write to, and returns where the node finds it. */
export async function createVolume({ volumes }: LinuxNode, name: string): Promise<string> {
  const folder = join(volumes, name);
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o777);
  return join(VOLUMES, name);
}

/** Deletes a volume with all that is in it. */
export async function deleteVolume({ volumes }: LinuxNode, name: string): Promise<void> {
  await rm(join(volumes, name), { recursive: true, force: true });
}
