import { resolve } from "node:path";
import {
  type Cluster,
  type ClusterPort,
  callWebhook,
  openPort,
  parseGpuNodes,
  plainNodes,
  scaledClock,
  startCluster,
} from "@konverge/cluster";
import { type Clock, realClock } from "@konverge/core";
import { openData } from "./cluster-data.ts";
import { defaultKubeconfig, mergeKubeconfig, removeContext, writeKubeconfig } from "./kubeconfig-file.ts";
import { chosenOperators, runOperators } from "./operators.ts";
import { forgetRunning, isRunning, notedCluster, noteRunning, type RunningCluster } from "./running-clusters.ts";

/** The options of `konverge up`. */
export interface UpOptions {
  name: string;
  port: number;
  host: string;
  kubeconfig?: string;
  data?: string;
  nodes: number;
  gpus: string;
  timeScale: number;
  operators: string;
}

/** A cluster that `konverge up` started, and how to end it. */
export interface Up {
  readonly cluster: Cluster;
  readonly port: ClusterPort;
  readonly noted: RunningCluster;
  /** Ends it cleanly: the port first, then what works in it, then its file; takes back its context. */
  stop(): Promise<void>;
}

/** Starts a cluster on a port, tells kubectl about it, and notes that it runs. */
export async function up(options: UpOptions, machine: Clock = realClock()): Promise<Up> {
  const { name } = options;
  const earlier = notedCluster(name);
  if (earlier && (await isRunning(earlier))) {
    throw new Error(
      `a cluster named ${name} runs already at ${earlier.url}: end it with "konverge down --name ${name}", or choose another --name`,
    );
  }
  const operators = chosenOperators(options.operators);
  const data = openData(options.data, machine);
  const cluster = await startCluster({
    clock: scaledClock(machine, options.timeScale),
    rootCertificate: data.authority.cert,
    nodes: [...plainNodes(options.nodes), ...parseGpuNodes(options.gpus)],
    server: {
      callWebhook,
      access: { serviceAccounts: { signingKey: data.signingKey } },
      ...(data.journal && { journal: data.journal }),
    },
  });
  const port = await openPort(cluster.guard, {
    name,
    port: options.port,
    host: options.host,
    authority: data.authority,
    onError: (error, { method, path }) => console.error(`${method} ${path}:`, error),
  });
  const stopOperators = await runOperators(operators, cluster);
  const merged = options.kubeconfig === undefined;
  const kubeconfig = resolve(options.kubeconfig ?? defaultKubeconfig());
  const text = port.kubeconfig(`${name}-admin`);
  if (merged) mergeKubeconfig(kubeconfig, text);
  else writeKubeconfig(kubeconfig, text);
  const noted = { name, pid: process.pid, url: port.url, kubeconfig, merged };
  noteRunning(noted);
  const stop = async () => {
    await stopOperators();
    await port.close();
    await cluster.stop();
    data.journal?.close();
    takeBack(noted);
  };
  return { cluster, port, noted, stop };
}

/** Removes the traces of a cluster that has ended. */
export function takeBack(noted: RunningCluster): void {
  if (noted.merged) removeContext(noted.kubeconfig, noted.name);
  forgetRunning(noted.name);
}
