import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@konverge/client";
import { type Clock, isNotFound, sleep } from "@konverge/core";
import { Node } from "@konverge/kinds";
import { closeNetwork, type NodeNetwork, openNetwork, routeTo } from "./bridge.ts";
import { createGroups, initProcess, removeGroups } from "./control-groups.ts";
import { initScript } from "./init-script.ts";
import {
  cniConfig,
  containerdConfig,
  kubeletConfig,
  kubeProxyConfig,
  type NodeDescription,
  resolverConfig,
  type VOLUMES,
} from "./node-files.ts";
import { bootId, findRecords, type NodeRecord, nodeFolder, writeRecord } from "./node-record.ts";
import { findPrograms, nodeCacheFolder, type ProgramChoice } from "./prerequisites.ts";
import { run, succeeds } from "./run.ts";

/** How a node joins a cluster. */
export interface LinuxNodeOptions extends ProgramChoice {
  /** The folder with the nodes of a cluster. */
  readonly folder: string;
  /** The name of the Node. */
  readonly name: string;
  /** A kubeconfig with a bootstrap token, and with an address that is reachable from the cluster's network. */
  readonly bootstrapKubeconfig: string;
  /** The certificate of the cluster's authority, in PEM: who is known by it may use the kubelet. */
  readonly certificateAuthority: string;
  /** Reads the Node. */
  readonly client: Client;
  readonly clock: Clock;
  /** The folder of its local volumes, which the node finds at {@link VOLUMES}. Default: in its own folder. */
  readonly volumes?: string;
  /** Where pods look up names. Default: 10.96.0.10. */
  readonly clusterDns?: string;
  /** How long it may take until the Node is ready, in milliseconds. Default: 120 000. */
  readonly timeout?: number;
  /** Ends the wait: it rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
}

/** A real node on this machine. */
export interface LinuxNode {
  readonly name: string;
  readonly address: string;
  /** Its folder: configuration, logs, images, volumes. */
  readonly folder: string;
  /** The folder of its local volumes, which it finds at {@link VOLUMES} itself. */
  readonly volumes: string;
  /** The ID of its first process: all of the node ends with it. Undefined when the node does not run. */
  readonly pid: number | undefined;
  /** Where containerd listens, for clients on the machine. Images of pods are in its namespace `k8s.io`. */
  readonly containerdSocket: string;
  readonly networkNamespace: string;
  /** A command as it is run in the node's namespaces: `["nsenter", …, "ctr", "images", "list"]`. */
  command(words: readonly string[]): string[];
}

const CLUSTER_DNS = "10.96.0.10";
const TIMEOUT = 120_000;
/** Addresses of nodes follow that of the machine. */
const FIRST_ADDRESS = 2;

/**
 * Starts a real node on this machine, in its own namespaces and control groups: containerd, kubelet and kube-proxy. It
 * outlives this process. Resolves when the Node is ready.
 *
 * Flow: what is about to be made is recorded; the control groups, the first process and the link are made; the kubelet
 * requests its certificate and registers; the Node gets a range of addresses, by which pods are connected and routed.
 *
 * Guarantees: {@link removeLinuxNode} removes everything that was made, wherever this was interrupted.
 */
export async function startLinuxNode(options: LinuxNodeOptions): Promise<LinuxNode> {
  try {
    return await start(options);
  } catch (error) {
    options.signal?.throwIfAborted();
    const logs = logsOf(nodeFolder(options.folder, options.name));
    throw new Error(`the node ${options.name} could not be started: ${(error as Error).message}${logs}`, {
      cause: error,
    });
  }
}

async function start(options: LinuxNodeOptions): Promise<LinuxNode> {
  const programs = findPrograms(options);
  const { folder: cluster, name, client, clock, timeout = TIMEOUT } = options;
  const network = await openNetwork(cluster);
  const volumes = options.volumes ?? join(nodeFolder(cluster, name), "volumes");
  const record = recordFor(cluster, name, network, volumes);
  writeRecord(cluster, record);
  const folder = nodeFolder(cluster, name);
  const description = { ...record, clusterCidr: network.clusterCidr, clusterDns: options.clusterDns ?? CLUSTER_DNS };
  mkdirSync(volumes, { recursive: true });
  prepareFolder(folder, description, options);
  writeFileSync(join(folder, "containerd.toml"), containerdConfig(programs));
  writeFileSync(join(folder, "init.sh"), initScript(description, { folder, volumes, programs }));
  startInit(folder, createGroups(record.group));
  const within = deadline(clock, timeout, options.signal);
  const pid = await within("its first process", () => initProcess(record.group));
  await connect(record, network, pid);
  writeFileSync(join(folder, "connected"), "");
  const node = linuxNode(cluster, record);
  const pause = join(nodeCacheFolder(), "pause.tar");
  if (existsSync(pause)) {
    await within("containerd", () => succeeds("ctr", "--address", node.containerdSocket, "version"));
    await importImage(node, pause);
  }
  const read = () =>
    client.get(Node, name).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
  const podCidr = await within(
    "a range of addresses for its pods (podCIDR)",
    async () => (await read())?.spec?.podCIDR,
  );
  await connectPods(record, network, pid, podCidr);
  writeFileSync(join(folder, "cni", "10-konverge.conflist"), cniConfig(podCidr, network.mtu));
  await within("the Node to be ready", async () => isReady(await read()));
  return node;
}

/** Removes a node from this machine: its processes, containers, mounts, namespaces, links and control groups, and its folder. */
export async function removeLinuxNode(cluster: string, name: string, clock: Clock): Promise<void> {
  const record = findRecords(cluster).find((one) => one.name === name);
  if (record?.boot === bootId()) {
    await removeGroups(record.group, clock);
    await succeeds("ip", "route", "flush", "via", record.address);
    // It goes with the namespace of its other end, but that takes a moment.
    if (await succeeds("ip", "link", "show", record.link)) await succeeds("ip", "link", "delete", record.link);
  }
  rmSync(nodeFolder(cluster, name), { recursive: true, force: true });
}

/** Removes all nodes of a cluster from this machine, and their network. */
export async function removeLinuxNodes(cluster: string, clock: Clock): Promise<void> {
  await Promise.all(findRecords(cluster).map(({ name }) => removeLinuxNode(cluster, name, clock)));
  await closeNetwork(cluster);
  rmSync(cluster, { recursive: true, force: true });
}

/** The nodes that were started in a cluster's folder and have not been removed. */
export function findLinuxNodes(cluster: string): LinuxNode[] {
  return findRecords(cluster).map((record) => linuxNode(cluster, record));
}

/** Adds the images of an OCI or Docker archive to a node. */
export async function importImage({ containerdSocket }: LinuxNode, archive: string): Promise<void> {
  await run("ctr", "--address", containerdSocket, "--namespace", "k8s.io", "images", "import", archive);
}

function linuxNode(cluster: string, { name, address, group, volumes, boot }: NodeRecord): LinuxNode {
  const pid = () => (boot === bootId() ? initProcess(group) : undefined);
  const namespaces = ["--mount", "--uts", "--ipc", "--net", "--pid"];
  return {
    name,
    address,
    folder: nodeFolder(cluster, name),
    volumes,
    get pid() {
      return pid();
    },
    get containerdSocket() {
      return `/proc/${pid() ?? 0}/root/run/containerd/containerd.sock`;
    },
    get networkNamespace() {
      return `/proc/${pid() ?? 0}/ns/net`;
    },
    command: (words) => ["nsenter", "--target", String(pid() ?? 0), ...namespaces, "--", ...words],
  };
}

function recordFor(cluster: string, name: string, network: NodeNetwork, volumes: string): NodeRecord {
  const others = findRecords(cluster);
  if (others.some((one) => one.name === name))
    throw new Error(`a node named ${name} is there already: remove it first`);
  const taken = new Set(others.map(({ index }) => index));
  let index = 0;
  while (taken.has(index)) index++;
  const id = `${network.index}-${index}`;
  const address = network.address.replace(/\d+$/, String(index + FIRST_ADDRESS));
  return { name, index, link: `konverge${id}`, group: `konverge-${id}`, address, volumes, boot: bootId() };
}

function prepareFolder(folder: string, description: NodeDescription, options: LinuxNodeOptions): void {
  for (const one of ["kubelet", "containerd", "log", "cni"]) mkdirSync(join(folder, one), { recursive: true });
  const write = (file: string, text: string, mode = 0o644) => writeFileSync(join(folder, file), text, { mode });
  write("kubelet.json", kubeletConfig(description));
  write("kube-proxy.json", kubeProxyConfig(description));
  write("resolv.conf", resolverConfig());
  write("ca.crt", options.certificateAuthority);
  write("bootstrap.kubeconfig", options.bootstrapKubeconfig, 0o600);
}

/** The first process of the node, already in its groups: whatever happens next, it can be found there. */
function startInit(folder: string, groups: readonly string[]): void {
  const log = openSync(join(folder, "log", "node.log"), "a");
  const joinGroups = 'script=$1; shift; for group; do echo $$ > "$group"; done';
  const namespaces = "--fork --pid --mount --mount-proc --net --uts --ipc";
  const command = `${joinGroups}; exec unshare ${namespaces} sh "$script"`;
  const child = spawn("sh", ["-euc", command, "sh", join(folder, "init.sh"), ...groups], {
    cwd: "/",
    detached: true,
    stdio: ["ignore", log, log],
    env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root" },
  });
  child.unref();
  closeSync(log);
}

async function connect({ link, address }: NodeRecord, { bridge, address: gateway, mtu }: NodeNetwork, pid: number) {
  await run(
    "ip",
    "link",
    "add",
    link,
    "mtu",
    String(mtu),
    "type",
    "veth",
    "peer",
    "name",
    "eth0",
    "netns",
    String(pid),
  );
  await run("ip", "link", "set", link, "master", bridge, "up");
  const inside = (...words: string[]) => run("nsenter", "--target", String(pid), "--net", ...words);
  await inside("ip", "link", "set", "lo", "up");
  await inside("ip", "address", "add", `${address}/24`, "dev", "eth0");
  await inside("ip", "link", "set", "eth0", "mtu", String(mtu), "up");
  await inside("ip", "route", "add", "default", "via", gateway);
  for (const key of ["ip_forward", "conf.all.route_localnet"]) await inside("sysctl", "-qw", `net.ipv4.${key}=1`);
}

/** Pods of other nodes see the addresses of pods; everybody else sees the node's. */
async function connectPods({ address }: NodeRecord, network: NodeNetwork, pid: number, podCidr: string): Promise<void> {
  await routeTo(podCidr, address, network);
  const rule = ["-s", podCidr, "!", "-d", network.clusterCidr, "-j", "MASQUERADE"];
  const words = ["iptables", "-w", "10", "-t", "nat", "-A", "POSTROUTING", ...rule];
  await run("nsenter", "--target", String(pid), "--net", ...words);
}

function isReady(node: Node | undefined): boolean {
  return Boolean(node?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True"));
}

/** Waits for something, all of it within one deadline. */
function deadline(clock: Clock, timeout: number, signal: AbortSignal | undefined) {
  const end = clock.monotonic() + timeout;
  return async <T>(what: string, probe: () => T | undefined | false | Promise<T | undefined | false>): Promise<T> => {
    for (;;) {
      signal?.throwIfAborted();
      const found = await probe();
      if (found) return found;
      if (clock.monotonic() > end) throw new Error(`it waited ${timeout / 1000} s for ${what}`);
      await sleep(clock, 50);
    }
  };
}

/** The last lines of what the daemons wrote. */
function logsOf(folder: string): string {
  return ["node", "containerd", "kubelet", "kube-proxy"]
    .flatMap((name) => {
      const file = join(folder, "log", `${name}.log`);
      if (!existsSync(file)) return [];
      return readFileSync(file, "utf8")
        .trim()
        .split("\n")
        .slice(-3)
        .map((line) => `\n${file}: ${line}`);
    })
    .join("");
}
