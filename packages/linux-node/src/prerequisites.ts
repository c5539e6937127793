import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { hierarchies } from "./control-groups.ts";

/** The version of Kubernetes that nodes run, which the embedded API server speaks. */
export const KUBERNETES_VERSION = "1.36.3";

/** The programs that a node is made of, by their paths. */
export interface NodePrograms {
  readonly containerd: string;
  /** runc, crun, or another OCI runtime. */
  readonly runtime: string;
  /** The folder with the CNI plugins. */
  readonly plugins: string;
  readonly kubelet: string;
  readonly kubeProxy: string;
}

/** Programs of a node that are used instead of those that are found. */
export interface ProgramChoice {
  readonly kubelet?: string;
  readonly kubeProxy?: string;
  /** An OCI runtime with the commands of runc. */
  readonly ociRuntime?: string;
}

/** What a machine looks like: its platform, user and files. */
export interface Machine {
  readonly platform: string;
  readonly isRoot: boolean;
  readonly architecture: string;
  /** Folders with programs. */
  readonly path: readonly string[];
  readonly home: string;
  readonly cacheHome?: string;
  /** The text of /etc/os-release. */
  readonly release: string;
  readonly hasControlGroups: boolean;
  isExecutable(path: string): boolean;
}

/** What is missing for real nodes, one sentence for each with what to do. */
export class MissingPrerequisites extends Error {
  override name = "MissingPrerequisites";
  readonly missing: readonly string[];

  constructor(missing: readonly string[]) {
    super(["this machine cannot run real nodes yet:", ...missing.map((one) => `  - ${one}`)].join("\n"));
    this.missing = missing;
  }
}

const PLUGIN_FOLDERS = ["/opt/cni/bin", "/usr/lib/cni", "/usr/libexec/cni", "/usr/local/lib/cni"];
const PLUGINS = ["ptp", "host-local", "portmap", "loopback"];
/** Where programs for root are, which are not always in the path of its shells. */
const SYSTEM_FOLDERS = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

type Package = "containerd" | "runc" | "plugins" | "iptables" | "conntrack" | "iproute" | "util-linux";
const PACKAGES: Readonly<Record<"debian" | "fedora", Readonly<Record<Package, string>>>> = {
  debian: {
    containerd: "containerd",
    runc: "runc",
    plugins: "containernetworking-plugins",
    iptables: "iptables",
    conntrack: "conntrack",
    iproute: "iproute2",
    "util-linux": "util-linux",
  },
  fedora: {
    containerd: "containerd",
    runc: "runc",
    plugins: "containernetworking-plugins",
    iptables: "iptables-nft",
    conntrack: "conntrack-tools",
    iproute: "iproute",
    "util-linux": "util-linux",
  },
};

/** This machine. */
function thisMachine(env: NodeJS.ProcessEnv = process.env): Machine {
  const release = existsSync("/etc/os-release") ? readFileSync("/etc/os-release", "utf8") : "";
  const isLinux = process.platform === "linux";
  return {
    platform: process.platform,
    isRoot: process.getuid?.() === 0,
    architecture: process.arch === "x64" ? "amd64" : process.arch,
    path: [...new Set([...(env["PATH"] ?? "").split(delimiter), ...SYSTEM_FOLDERS])].filter((one) => one !== ""),
    home: homedir(),
    ...(env["XDG_CACHE_HOME"] && { cacheHome: env["XDG_CACHE_HOME"] }),
    release,
    hasControlGroups: isLinux && hierarchies().mounts.length > 0,
    isExecutable,
  };
}

/** The programs of a node on this machine. Throws {@link MissingPrerequisites} with all that is missing. */
export function findPrograms(choice: ProgramChoice = {}, machine: Machine = thisMachine()): NodePrograms {
  if (machine.platform !== "linux") {
    const name = { darwin: "macOS", win32: "Windows" }[machine.platform] ?? machine.platform;
    throw new MissingPrerequisites([
      `real nodes need Linux, and this is ${name}: use simulated nodes (konverge up --nodes 3), or run konverge in a Linux virtual machine`,
    ]);
  }
  const missing: string[] = [];
  const inPath = (name: string) =>
    machine.path.map((folder) => join(folder, name)).find((path) => machine.isExecutable(path));
  const need = (found: string | undefined, what: string, how: string): string => {
    if (!found) missing.push(`${what} is missing: ${how}`);
    return found ?? "";
  };
  if (!machine.isRoot) missing.push("you are not root: run the command with sudo");
  if (!machine.hasControlGroups)
    missing.push("no control groups are mounted below /sys/fs/cgroup: mount cgroup2 there");
  const install = (one: Package) => installation(one, machine.release);
  const isThere = (folder: string) => PLUGINS.every((name) => machine.isExecutable(join(folder, name)));
  const containerd = need(inPath("containerd"), "containerd", install("containerd"));
  const programs: NodePrograms = {
    containerd,
    runtime: need(choice.ociRuntime ?? inPath("runc") ?? inPath("crun"), "runc or crun", install("runc")),
    plugins: need(PLUGIN_FOLDERS.find(isThere), `CNI plugins (${PLUGINS.join(", ")})`, install("plugins")),
    kubelet: need(choice.kubelet ?? built("kubelet", machine, inPath), "kubelet", download("kubelet", machine)),
    kubeProxy: need(
      choice.kubeProxy ?? built("kube-proxy", machine, inPath),
      "kube-proxy",
      download("kube-proxy", machine),
    ),
  };
  for (const path of [choice.kubelet, choice.kubeProxy, choice.ociRuntime]) {
    if (path !== undefined && !machine.isExecutable(path)) missing.push(`${path} is not a program that can be run`);
  }
  need(inPath("ctr"), "ctr", install("containerd"));
  need(inPath("iptables"), "iptables", install("iptables"));
  need(inPath("conntrack"), "conntrack", install("conntrack"));
  need(inPath("ip"), "ip", install("iproute"));
  for (const name of ["unshare", "nsenter", "mount"]) need(inPath(name), name, install("util-linux"));
  if (missing.length > 0) throw new MissingPrerequisites(missing);
  return programs;
}

function installation(one: Package, release: string): string {
  const value = (key: string) => new RegExp(`^${key}="?([^"\n]*)"?$`, "m").exec(release)?.[1] ?? "";
  const ids = [value("ID"), ...value("ID_LIKE").split(" ")];
  if (ids.some((id) => id === "debian" || id === "ubuntu")) return `apt-get install ${PACKAGES.debian[one]}`;
  if (ids.some((id) => ["fedora", "rhel", "centos"].includes(id))) return `dnf install ${PACKAGES.fedora[one]}`;
  return `install the package ${PACKAGES.debian[one]} (or what your distribution calls it)`;
}

/** Where `npm run real:build -- --node` puts what it builds. */
export function nodeCacheFolder({ home, cacheHome, architecture }: Machine = thisMachine()): string {
  const root = join(cacheHome ?? join(home, ".cache"), "konverge", "real");
  return join(root, `v${KUBERNETES_VERSION}-linux-${architecture}`);
}

function built(name: string, machine: Machine, inPath: (name: string) => string | undefined): string | undefined {
  const path = join(nodeCacheFolder(machine), name);
  return machine.isExecutable(path) ? path : inPath(name);
}

function download(name: string, { architecture }: Machine): string {
  const from = `https://dl.k8s.io/v${KUBERNETES_VERSION}/bin/linux/${architecture}/${name}`;
  return `download ${from} into a folder of your PATH and make it executable, name it with --${name}, or, in the repository of Konverge, run "npm run real:build -- --node"`;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
