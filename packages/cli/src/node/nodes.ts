import { kubeconfigText } from "@konverge/apiserver";
import { connect } from "@konverge/client";
import { createBootstrapToken } from "@konverge/cluster";
import { isNotFound, realClock } from "@konverge/core";
import { ConfigMap, Node } from "@konverge/kinds";
import {
  findLinuxNodes,
  findNetwork,
  type LinuxNode,
  networkOf,
  type ProgramChoice,
  removeLinuxNode,
  removeLinuxNodes,
  startLinuxNode,
} from "@konverge/linux-node";
import { checkedName } from "../checked-name.ts";
import { connectToCluster } from "../cluster-connection.ts";
import { clustersWithNodes, nodesFolder } from "../up/nodes-folder.ts";
import { checkPrerequisites } from "../up/real-nodes.ts";
import { isRunning, notedCluster, type RunningCluster } from "../up/running-clusters.ts";
import { UsageError } from "../usage-error.ts";
import { clusterIn, discoverAuthority } from "./cluster-info.ts";

/** The options of `konverge node join`. */
export interface JoinOptions extends ProgramChoice {
  /** The cluster, if it is not named by a server. */
  readonly name: string;
  /** The name of the Node. Default: the next one that is free. */
  readonly node?: string;
  readonly server?: string;
  readonly token?: string;
}

/** Where a node joins. */
interface Entrance {
  /** The folder with the cluster's nodes. */
  readonly folder: string;
  readonly server: string;
  readonly token: string;
  readonly certificateAuthority: string;
}

/** Starts a real node on this machine, which joins a cluster of this machine. */
export async function joinNode({ name, node, server, token, ...choice }: JoinOptions): Promise<LinuxNode> {
  checkPrerequisites(choice);
  if ((server === undefined) !== (token === undefined)) throw new UsageError("--server and --token go together");
  const entrance = server && token ? await entranceOf(server, token) : await entranceTo(name);
  const { folder, certificateAuthority } = entrance;
  const taken = new Set(findLinuxNodes(folder).map((one) => one.name));
  let number = 1;
  while (taken.has(`linux-${number}`)) number++;
  const chosen = checkedName(node ?? `linux-${number}`, "--node");
  if (taken.has(chosen)) throw new UsageError(`a node named ${chosen} is there already: choose another --node`);
  const clock = realClock();
  const user = "kubelet-bootstrap";
  const credential = { token: entrance.token };
  const bootstrapKubeconfig = kubeconfigText({
    ...{ name: user, url: entrance.server, ca: certificateAuthority, user, credential },
  });
  await using client = await connect({
    config: {
      server: entrance.server,
      ca: { value: certificateAuthority },
      credentials: { token: { value: entrance.token } },
      proxyUrl: "",
    },
  });
  try {
    return await startLinuxNode({
      ...choice,
      ...{ folder, name: chosen, bootstrapKubeconfig, certificateAuthority, client, clock },
    });
  } catch (error) {
    await removeLinuxNode(folder, chosen, clock);
    throw error;
  }
}

async function entranceOf(server: string, token: string): Promise<Entrance> {
  const folder = findNetwork(new URL(server).hostname);
  if (folder === undefined) {
    throw new UsageError(
      `--server ${server}: it is not the address of a cluster on this machine, where the pods of its nodes could be reached. Let a kubelet of your own join instead: see the guide, "Real nodes"`,
    );
  }
  return { folder, server, token, certificateAuthority: await discoverAuthority(server, token) };
}

async function entranceTo(name: string): Promise<Entrance> {
  const folder = nodesFolder(name);
  const noted = await runningCluster(name);
  if (!networkOf(folder)) {
    throw new UsageError(
      `the cluster ${name} was started without real nodes: start it with konverge up --name ${name} --real-nodes 1`,
    );
  }
  await using client = await connectToCluster(noted);
  const info = await client.get(ConfigMap, "kube-public/cluster-info");
  const { server, certificateAuthority } = clusterIn(info.data?.["kubeconfig"] ?? "");
  return { folder, server, certificateAuthority, token: await createBootstrapToken(client, realClock()) };
}

async function runningCluster(name: string): Promise<RunningCluster & { context: string }> {
  const noted = notedCluster(checkedName(name, "--name"));
  if (!noted || !(await isRunning(noted))) {
    throw new UsageError(`no cluster named ${name} runs: start one with konverge up --name ${name} --real-nodes 1`);
  }
  return { ...noted, context: name };
}

/** Removes a real node from its cluster and from this machine. */
export async function removeNode(cluster: string, name: string): Promise<void> {
  const folder = nodesFolder(checkedName(cluster, "--name"));
  if (!findLinuxNodes(folder).some((one) => one.name === name)) {
    throw new UsageError(
      `the cluster ${cluster} has no real node named ${name} on this machine: see konverge node list`,
    );
  }
  const clock = realClock();
  await removeLinuxNode(folder, name, clock);
  const noted = notedCluster(cluster);
  if (!noted || !(await isRunning(noted))) {
    // A control plane that was killed left the network of its nodes behind.
    if (findLinuxNodes(folder).length === 0) await removeLinuxNodes(folder, clock);
    return;
  }
  await using client = await connectToCluster({ kubeconfig: noted.kubeconfig, context: cluster });
  await client.delete(Node, name).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

/** A real node on this machine; without a process if it does not run. */
export interface ListedNode extends Pick<LinuxNode, "name" | "address" | "folder"> {
  readonly cluster: string;
  readonly pid?: number;
}

/** The real nodes on this machine. */
export function listNodes(): ListedNode[] {
  return clustersWithNodes().flatMap((cluster) =>
    findLinuxNodes(nodesFolder(cluster)).map(({ name, address, pid, folder }) => ({
      ...{ cluster, name, address, folder },
      ...(pid !== undefined && { pid }),
    })),
  );
}
