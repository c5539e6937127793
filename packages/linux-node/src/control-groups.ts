import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Clock, sleep } from "@konverge/core";

/** Where the machine's control groups are mounted: one tree (v2), or one for each controller (v1), often beside one of v2. */
export interface Hierarchies {
  /** Of that which limits containers. */
  readonly version: 1 | 2;
  readonly mounts: readonly string[];
}

/** The group of a node's own daemons, beside that of its pods. */
const DAEMONS = "daemons";
/** What the kubelet and runc limit by. */
const CONTROLLERS = ["cpuset", "cpu", "io", "memory", "pids", "hugetlb"];
/** How long killed processes may take to end, in milliseconds. */
const PATIENCE = 20_000;

/** Reads which control groups there are; `mounts` is the text of /proc/self/mounts. */
export function hierarchies(mounts = readFileSync("/proc/self/mounts", "utf8")): Hierarchies {
  const lines = mounts.split("\n").map((line) => line.split(" "));
  const of = (wanted: string) => lines.flatMap(([, path, type]) => (type === wanted && path ? [path] : []));
  const [v1, v2] = [of("cgroup"), of("cgroup2")];
  return { version: v1.length > 0 ? 1 : 2, mounts: [...v1, ...v2] };
}

/** Creates the control groups of a node, and returns the files that a daemon writes its process ID to. */
export function createGroups(name: string, { version, mounts } = hierarchies()): string[] {
  return mounts.map((mount) => {
    if (version === 2) enableControllers(mount);
    for (const folder of [join(mount, name), join(mount, name, DAEMONS)]) {
      mkdirSync(folder, { recursive: true });
      // A new cpuset of v1 has neither processors nor memory, and accepts no process without them.
      if (version === 1) for (const file of ["cpuset.cpus", "cpuset.mems"]) inherit(folder, file);
    }
    return join(mount, name, DAEMONS, "cgroup.procs");
  });
}

function enableControllers(mount: string): void {
  const offered = readFileSync(join(mount, "cgroup.controllers"), "utf8").trim().split(" ");
  const wanted = CONTROLLERS.filter((one) => offered.includes(one)).map((one) => `+${one}`);
  writeFileSync(join(mount, "cgroup.subtree_control"), wanted.join(" "));
}

function inherit(folder: string, file: string): void {
  const path = join(folder, file);
  if (existsSync(path)) writeFileSync(path, readFileSync(join(folder, "..", file), "utf8"));
}

/** The processes in a node's groups, by their IDs. */
export function processesIn(name: string, { mounts } = hierarchies()): Set<number> {
  const found = new Set<number>();
  for (const folder of mounts.flatMap((mount) => groupsBelow(join(mount, name)))) {
    for (const line of read(join(folder, "cgroup.procs")).split("\n")) if (Number(line) > 0) found.add(Number(line));
  }
  return found;
}

/** The ID of a node's first process, which all its namespaces and processes end with; undefined if it does not run. */
export function initProcess(name: string): number | undefined {
  const isFirst = (pid: number) => /^NSpid:\t\d+\t1$/m.test(read(`/proc/${pid}/status`));
  return [...processesIn(name)].find(isFirst);
}

/** Kills everything in a node's groups and removes them. */
export async function removeGroups(name: string, clock: Clock): Promise<void> {
  const deadline = clock.monotonic() + PATIENCE;
  for (;;) {
    const left = processesIn(name);
    for (const pid of left) kill(pid);
    if (left.size === 0 && hierarchies().mounts.every((mount) => removed(join(mount, name)))) return;
    if (clock.monotonic() > deadline) {
      throw new Error(`the control group ${name} is still in use by process ${[...left].join(", ")}`);
    }
    await sleep(clock, 20);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}

function removed(group: string): boolean {
  for (const folder of groupsBelow(group).reverse()) {
    try {
      rmdirSync(folder);
    } catch {
      // Processes that are ending still count for a moment.
    }
  }
  return !existsSync(group);
}

/** A group and those below it, each before its children. */
function groupsBelow(group: string): string[] {
  try {
    const children = readdirSync(group, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return [group, ...children.flatMap(({ name }) => groupsBelow(join(group, name)))];
  } catch {
    return [];
  }
}

/** Empty if it no longer exists. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
