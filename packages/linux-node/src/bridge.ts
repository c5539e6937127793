import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CommandError, run, succeeds } from "./run.ts";

/**
 * The network of a cluster's nodes on this machine: a bridge with a node's link each, and the machine itself at the first
 * address, where the API server listens.
 */
export interface NodeNetwork {
  /** Its place among the networks of this machine. */
  readonly index: number;
  readonly bridge: string;
  /** Addresses of nodes. */
  readonly subnet: string;
  /** Addresses of pods, of which each node gets a part. */
  readonly clusterCidr: string;
  /** The machine's own address in it. */
  readonly address: string;
  /** Bytes of a packet that gets through to where the machine is connected. */
  readonly mtu: number;
}

/** What a machine has to know to remove a network. Written before anything of it is made; a reboot clears both. */
interface Claim {
  /** Of the cluster whose network it is. */
  readonly folder: string;
  readonly clusterCidr: string;
  /** What the machine's net.ipv4.ip_forward was before the first network was made. */
  readonly forwarding: string;
}

const CLAIMS = "/run/konverge/networks";
const FORWARDING = "/proc/sys/net/ipv4/ip_forward";
const MOST = 40;

/** Makes the network of a cluster, or returns the one that it has. */
export async function openNetwork(folder: string, clusterCidr?: string): Promise<NodeNetwork> {
  // The folder says that there is something to remove. Other users of the machine have no business in its volumes and images.
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const known = claimOf(folder);
  const network = known ?? (await claim(folder, clusterCidr));
  const { bridge, address, mtu } = network;
  if (!(await succeeds("ip", "link", "show", bridge))) await run("ip", "link", "add", bridge, "type", "bridge");
  await run("ip", "link", "set", bridge, "mtu", String(mtu), "up");
  await run("ip", "address", "replace", `${address}/24`, "dev", bridge);
  writeFileSync(FORWARDING, "1");
  for (const rule of rulesOf(network)) {
    if (!(await hasRule(rule))) await run(...command("-I", rule));
  }
  return network;
}

/** The network of a cluster, if it has one. */
export function networkOf(folder: string): NodeNetwork | undefined {
  return claimOf(folder);
}

/** The folder of the cluster whose network an address of this machine is in, if it is in one. */
export function findNetwork(address: string): string | undefined {
  const index = indexes().find((one) => networkAt(one).address === address);
  return index === undefined ? undefined : readClaim(index)?.folder;
}

/** Removes the network of a cluster with everything that was made for it. */
export async function closeNetwork(folder: string): Promise<void> {
  const network = claimOf(folder);
  if (network) {
    for (const rule of rulesOf(network)) while (await hasRule(rule)) await run(...command("-D", rule));
    if (await succeeds("ip", "link", "show", network.bridge)) await run("ip", "link", "delete", network.bridge);
    const { forwarding } = readClaim(network.index)!;
    // The last one leaves the machine as the first one found it.
    if (indexes().length === 1) writeFileSync(FORWARDING, forwarding);
    rmSync(join(CLAIMS, `${network.index}.json`), { force: true });
  }
  for (const parent of [CLAIMS, dirname(CLAIMS)]) removeIfEmpty(parent);
}

function removeIfEmpty(parent: string): void {
  try {
    rmdirSync(parent);
  } catch {
    // Another cluster is there.
  }
}

/** Leads the addresses of a node's pods to it. */
export async function routeTo(podCidr: string, nodeAddress: string, { bridge }: NodeNetwork): Promise<void> {
  await run("ip", "route", "replace", podCidr, "via", nodeAddress, "dev", bridge);
}

/** Pods and nodes reach the machine, and what the machine reaches under its address. */
function rulesOf({ bridge, subnet }: NodeNetwork): string[][] {
  return [
    ["nat", "POSTROUTING", "-s", subnet, "!", "-d", subnet, "!", "-o", bridge, "-j", "MASQUERADE"],
    ["filter", "INPUT", "-i", bridge, "-j", "ACCEPT"],
    ["filter", "FORWARD", "-i", bridge, "-j", "ACCEPT"],
    ["filter", "FORWARD", "-o", bridge, "-j", "ACCEPT"],
  ];
}

/** A check that fails otherwise, for example because other programs change rules, says nothing of the rule. */
async function hasRule(rule: readonly string[]): Promise<boolean> {
  try {
    await run(...command("-C", rule));
    return true;
  } catch (error) {
    if (error instanceof CommandError && error.exitCode === 1) return false;
    throw error;
  }
}

function command(act: "-C" | "-I" | "-D", [table, ...rule]: readonly string[]): [string, ...string[]] {
  return ["iptables", "-w", "10", "-t", table!, act, ...rule];
}

async function claim(folder: string, clusterCidr: string | undefined): Promise<NodeNetwork> {
  const routes = await run("ip", "-4", "route", "show", "table", "all");
  const mtu = await outwardMtu(routes);
  mkdirSync(CLAIMS, { recursive: true });
  const before = indexes().map(readClaim)[0]?.forwarding ?? readFileSync(FORWARDING, "utf8").trim();
  for (let index = 0; index < MOST; index++) {
    const network = { ...networkAt(index, clusterCidr), mtu };
    const isTaken = [network.subnet, ...(clusterCidr ? [] : [network.clusterCidr])].some((range) =>
      routes.includes(prefixOf(range)),
    );
    if (isTaken || readClaim(index)) continue;
    const text = JSON.stringify({ folder, clusterCidr: network.clusterCidr, forwarding: before } satisfies Claim);
    try {
      writeFileSync(join(CLAIMS, `${index}.json`), text, { flag: "wx" });
      return network;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
  throw new Error(`no range of addresses is free for nodes: see "ip route" and the files in ${CLAIMS}`);
}

/** `10.202.`, `10.201.3.`: what addresses of a range begin with. */
const prefixOf = (range: string) => range.replace(/(\.0)+\/\d+$/, ".");

function networkAt(index: number, clusterCidr = `10.${202 + index}.0.0/16`): Omit<NodeNetwork, "mtu"> {
  const subnet = `10.201.${index}.0/24`;
  return { index, bridge: `konverge${index}`, subnet, clusterCidr, address: `10.201.${index}.1` };
}

function claimOf(folder: string): NodeNetwork | undefined {
  const index = indexes().find((one) => readClaim(one)?.folder === folder);
  if (index === undefined) return undefined;
  const network = networkAt(index, readClaim(index)!.clusterCidr);
  const file = `/sys/class/net/${network.bridge}/mtu`;
  return { ...network, mtu: existsSync(file) ? Number(readFileSync(file, "utf8")) : 1500 };
}

function indexes(): number[] {
  if (!existsSync(CLAIMS)) return [];
  return readdirSync(CLAIMS).flatMap((file) => (/^\d+\.json$/.test(file) ? [Number.parseInt(file, 10)] : []));
}

function readClaim(index: number): Claim | undefined {
  try {
    return JSON.parse(readFileSync(join(CLAIMS, `${index}.json`), "utf8")) as Claim;
  } catch {
    return undefined;
  }
}

async function outwardMtu(routes: string): Promise<number> {
  const device = /^default .*\bdev (\S+)/m.exec(routes)?.[1];
  const file = `/sys/class/net/${device}/mtu`;
  return device && existsSync(file) ? Number(readFileSync(file, "utf8")) : 1500;
}
