import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { hierarchies } from "@konverge/linux-node";

/** What of the machine a real node could change, by kind, a line for each. */
export type MachineTraces = Readonly<Record<string, readonly string[]>>;

const SYSCTLS = [
  "vm/overcommit_memory",
  "vm/panic_on_oom",
  "kernel/panic",
  "kernel/panic_on_oops",
  "kernel/keys/root_maxkeys",
  "kernel/keys/root_maxbytes",
  "net/ipv4/ip_forward",
];

/** The state of the machine, as far as real nodes could leave something behind. */
export function machineTraces(): MachineTraces {
  const lines = (command: string, ...args: string[]) =>
    execFileSync(command, args, { encoding: "utf8" })
      .split("\n")
      .filter((line) => line.trim() !== "")
      .sort();
  const folder = (path: string) => (existsSync(path) ? readdirSync(path).sort() : []);
  return {
    links: folder("/sys/class/net"),
    routes: lines("ip", "-4", "route", "show", "table", "all"),
    "network namespaces": folder("/run/netns"),
    rules: [...lines("iptables", "-S"), ...lines("iptables", "-t", "nat", "-S")],
    mounts: readFileSync("/proc/self/mounts", "utf8").split("\n").sort(),
    "control groups": hierarchies().mounts.flatMap((mount) => folder(mount).map((name) => `${mount}/${name}`)),
    "files in /run": folder("/run"),
    "folders of the kubelet": ["/var/lib/kubelet", "/var/log/pods", "/etc/kubernetes"].filter((path) =>
      existsSync(path),
    ),
    sysctls: SYSCTLS.map((key) => `${key}=${readFileSync(`/proc/sys/${key}`, "utf8").trim()}`),
    processes: processes(),
  };
}

/** Programs of nodes: others start and end all the time. */
function processes(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")[0] ?? "";
        if (!/(containerd|containerd-shim-runc-v2|kubelet|kube-proxy|unshare|pause)$/.test(command)) return [];
        const node = /konverge-\d+-\d+/.exec(readFileSync(`/proc/${pid}/cgroup`, "utf8"))?.[0] ?? "";
        return [`${pid} ${command} ${node}`];
      } catch {
        return [];
      }
    })
    .sort();
}

/**
 * What is there afterwards and was not before, and the other way round. Other clusters with real nodes may start and end at the
 * same time, in networks of other numbers than `own`: what is theirs, or shared with them, does not count.
 */
export function differences(before: MachineTraces, after: MachineTraces, own: number | undefined): string[] {
  const found = Object.keys(before).flatMap((kind) => {
    const [earlier, later] = [before[kind] ?? [], after[kind] ?? []];
    const added = later.filter((line) => !earlier.includes(line)).map((line) => `${kind}: + ${line}`);
    const removed = earlier.filter((line) => !later.includes(line)).map((line) => `${kind}: - ${line}`);
    return [...added, ...removed];
  });
  const numberIn = (line: string) => /konverge-?(\d+)/.exec(line)?.[1] ?? /10\.201\.(\d+)\./.exec(line)?.[1];
  const isOther = (line: string) => numberIn(line) !== undefined && Number(numberIn(line)) !== own;
  const hasOthers = [before, after].some(({ links = [] }) => links.some(isOther));
  const isShared = (line: string) => /ip_forward|files in \/run: . konverge$/.test(line);
  return found.filter((line) => !isOther(line) && !(hasOthers && isShared(line)));
}
