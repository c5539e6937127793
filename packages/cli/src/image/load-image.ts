import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@konverge/client";
import { Node } from "@konverge/kinds";
import { isSimulated } from "../deploy/simulated-nodes.ts";
import { nodesFolder } from "../up/nodes-folder.ts";
import { UsageError } from "../usage-error.ts";
import { archiveNames } from "./archive-names.ts";
import { fullImageName } from "./image-name.ts";

export interface LoadImageOptions {
  /** The cluster, by the name that `konverge up` gave it. */
  readonly cluster: string;
  /** The name that an image gets which is built from a folder. */
  readonly image?: string;
  tell(text: string): void;
}

/**
 * Puts images into the image stores of a cluster's real nodes on this machine: those of an archive, or one that is
 * built from a folder with a Dockerfile. Simulated nodes have no image store; for them it reports what runs instead.
 */
export async function loadImage(source: string, client: Client, options: LoadImageOptions): Promise<void> {
  if (!existsSync(source)) throw new UsageError(`${source} does not exist`);
  const isFolder = statSync(source).isDirectory();
  if (isFolder && options.image === undefined) {
    throw new UsageError(`the image of ${source} needs a name: konverge image load ${source} --image NAME:TAG`);
  }
  const names = isFolder ? [fullImageName(options.image!)] : await archiveNames(source);
  const { cluster, tell } = options;
  const { items } = await client.list(Node);
  const { findLinuxNodes, importImage } = await import("@konverge/linux-node");
  const ours = findLinuxNodes(nodesFolder(cluster)).filter(({ pid }) => pid !== undefined);
  const nodes = ours.filter(({ name }) => items.some(({ metadata }) => metadata.name === name));
  if (nodes.length > 0) {
    const folder = mkdtempSync(join(tmpdir(), "konverge-image-"));
    try {
      const archive = isFolder ? join(folder, "image.tar") : source;
      if (isFolder) (await import("./build-image.ts")).buildImage(source, names[0]!, archive);
      for (const node of nodes) {
        await importImage(node, archive);
        for (const name of names) tell(`${name} loaded into ${node.name}`);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  const rest = items.filter(({ metadata }) => !nodes.some(({ name }) => name === metadata.name));
  const [simulated, foreign] = [rest.filter(isSimulated), rest.filter((node) => !isSimulated(node))];
  if (simulated.length > 0) tell(simulatedAdvice(simulated, names));
  if (foreign.length > 0) {
    const load = `ctr --namespace k8s.io images import ${isFolder ? "ARCHIVE" : source}`;
    tell(`not loaded into ${listed(foreign)}, which konverge did not start here; on that node, run: ${load}`);
  }
}

function simulatedAdvice(nodes: readonly Node[], names: readonly string[]): string {
  return (
    `not loaded into ${listed(nodes)}: simulated nodes have no image store. Containers of ${names.join(", ")} seem to run there without it.\n` +
    `Run them on real nodes: konverge up --real-nodes 1. Or let a command of this machine stand for them: konverge up --program '${names[0]}=COMMAND'`
  );
}

function listed(nodes: readonly Node[]): string {
  const names = nodes.map(({ metadata }) => metadata.name);
  return names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
}
