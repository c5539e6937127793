import { chmod, mkdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { findLinuxNodes, type LinuxNode } from "./linux-node.ts";
import { VOLUMES } from "./node-files.ts";

/** Makes an empty volume that any user may write to, and returns where the node finds it. */
export async function createVolume({ volumes }: LinuxNode, name: string): Promise<string> {
  const folder = folderOf(volumes, name);
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o777);
  return join(VOLUMES, name);
}

/** Names come from objects: one that is not a single name below the folder is refused. */
function folderOf(volumes: string, name: string): string {
  if (basename(name) !== name || name === "" || name === "." || name === "..") {
    throw new Error(`${JSON.stringify(name)} is not the name of a volume`);
  }
  return join(volumes, name);
}

/** Deletes a volume with all that is in it. */
export async function deleteVolume({ volumes }: LinuxNode, name: string): Promise<void> {
  await rm(folderOf(volumes, name), { recursive: true, force: true });
}

/** The volumes of a cluster's nodes on this machine, by the names of nodes: nothing is created for other nodes. */
export function volumesOf(cluster: string) {
  const find = (name: string) => findLinuxNodes(cluster).find((node) => node.name === name);
  return {
    async create(node: string, name: string): Promise<string | undefined> {
      const found = find(node);
      return found && createVolume(found, name);
    },
    async delete(node: string, name: string): Promise<void> {
      const found = find(node);
      if (found) await deleteVolume(found, name);
    },
  };
}
