import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What was made for a node outside its own namespaces. Written before any of it is made, so that all of it can be removed. */
export interface NodeRecord {
  readonly name: string;
  /** Its place in the cluster's network. */
  readonly index: number;
  /** The machine's end of its link. */
  readonly link: string;
  /** Its control groups. */
  readonly group: string;
  readonly address: string;
  /** The folder of its local volumes. */
  readonly volumes: string;
  /** When the machine was started: afterwards, its link and groups no longer exist, and others may have their names. */
  readonly boot: string;
}

/** Changes with each start of the machine. */
export const bootId = (): string => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();

const FILE = "node.json";

/** The folder of a node in that of its cluster. */
export const nodeFolder = (cluster: string, name: string): string => join(cluster, name);

export function writeRecord(cluster: string, record: NodeRecord): void {
  const folder = nodeFolder(cluster, record.name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `${FILE}.new`);
  writeFileSync(draft, `${JSON.stringify(record, undefined, 2)}\n`);
  renameSync(draft, join(folder, FILE));
}

/** The nodes that were started in a cluster's folder and have not been removed, whether they run or not. */
export function findRecords(cluster: string): NodeRecord[] {
  if (!existsSync(cluster)) return [];
  const files = readdirSync(cluster).map((name) => join(cluster, name, FILE));
  const records = files.filter((file) => existsSync(file)).map((file) => JSON.parse(readFileSync(file, "utf8")));
  return (records as NodeRecord[]).sort((a, b) => a.index - b.index);
}
