import { type Client, ConfigError, connect } from "@konverge/client";
import { Node, Pod } from "@konverge/kinds";
import { isRunning, notedCluster, notedNames, type RunningCluster } from "../up/running-clusters.ts";
import { UsageError } from "../usage-error.ts";

/** The name that clusters have by default. */
const DEFAULT = "konverge";

/** All clusters that run on this machine. */
export async function runningClusters(): Promise<RunningCluster[]> {
  const running: RunningCluster[] = [];
  for (const name of notedNames().sort()) {
    const noted = notedCluster(name);
    if (noted && (await isRunning(noted))) running.push(noted);
  }
  return running;
}

/** The running cluster of that name; without a name, that of the default name, or the only one. */
export async function runningCluster(name?: string): Promise<RunningCluster> {
  const running = await runningClusters();
  const found = running.find((one) => one.name === (name ?? DEFAULT));
  if (found) return found;
  if (name === undefined && running.length === 1) return running[0]!;
  const names = running.map((one) => one.name).join(", ");
  if (running.length === 0)
    throw new UsageError(`no cluster${name ? ` named ${name}` : ""} runs: start one with npx konverge up`);
  throw new UsageError(
    name ? `no cluster named ${name} runs, only: ${names}` : `several clusters run: choose one with --name: ${names}`,
  );
}

/** A client of a running cluster, with all permissions. */
export function clientOf({ kubeconfig, name }: RunningCluster): Promise<Client> {
  return connect({ kubeconfig, context: name });
}

/** What `konverge status` reports of a cluster. */
export interface ClusterStatus extends Partial<ClusterContents> {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  readonly kubeconfig: string;
  /** Why its contents cannot be read, and what to do. */
  readonly error?: string;
}

interface ClusterContents {
  readonly version: string;
  readonly nodes: { readonly ready: number; readonly all: number };
  readonly pods: { readonly running: number; readonly all: number };
}

/** Never rejects: a cluster that cannot be read is reported as such, beside the others. */
export async function statusOf(cluster: RunningCluster): Promise<ClusterStatus> {
  const { name, url, pid, kubeconfig } = cluster;
  const found = await contentsOf(cluster).catch((error: unknown) => ({
    error: `${error instanceof Error ? error.message : String(error)}; ${remedyFor(cluster, error)}`,
  }));
  return { name, url, pid, kubeconfig, ...found };
}

async function contentsOf(cluster: RunningCluster): Promise<ClusterContents> {
  await using client = await clientOf(cluster);
  const { gitVersion } = await client.version();
  const { items: nodes } = await client.list(Node);
  const { items: pods } = await client.list(Pod);
  const ready = nodes.filter(({ status }) =>
    status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
  );
  return {
    version: gitVersion,
    nodes: { ready: ready.length, all: nodes.length },
    pods: { running: pods.filter(({ status }) => status?.phase === "Running").length, all: pods.length },
  };
}

/** The credentials of a cluster are only in its kubeconfig, which a restart writes again. */
function remedyFor({ name, kubeconfig }: RunningCluster, error: unknown): string {
  const restart = `restart the cluster with konverge down --name ${name} and konverge up --name ${name}`;
  const kept = "konverge snapshot saves its state before";
  return error instanceof ConfigError ? `restore ${kubeconfig}, or ${restart} (${kept})` : `${restart} (${kept})`;
}
