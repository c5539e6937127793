import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { isName } from "../checked-name.ts";

/** Where the real nodes of a cluster are kept: ~/.konverge/nodes, or under $KONVERGE_HOME. */
export function nodesFolder(cluster: string, env: NodeJS.ProcessEnv = process.env): string {
  return join(allNodes(env), cluster);
}

/** Whether a cluster has real nodes on this machine, or had when it was killed. */
export const hasNodes = (cluster: string): boolean => isName(cluster) && existsSync(nodesFolder(cluster));

/** The clusters that have. */
export function clustersWithNodes(env: NodeJS.ProcessEnv = process.env): string[] {
  return existsSync(allNodes(env)) ? readdirSync(allNodes(env)).filter(isName) : [];
}

function allNodes(env: NodeJS.ProcessEnv): string {
  return join(env["KONVERGE_HOME"] ?? join(homedir(), ".konverge"), "nodes");
}
