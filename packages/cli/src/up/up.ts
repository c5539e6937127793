import { resolve } from "node:path";
import { isSea } from "node:sea";
import { type Durability, loadSnapshot, type Snapshot, saveSnapshot } from "@konverge/apiserver";
import {
  type Cluster,
  type ClusterPort,
  childProgram,
  type NodeShape,
  type PortOptions,
  parseGpuNodes,
  plainNodes,
  startCluster,
} from "@konverge/cluster";
import type { Console, EmbeddedOptions } from "@konverge/console";
import { AdjustableClock, type Clock, realClock } from "@konverge/core";
import { type OperatorCatalog, operatorCatalog } from "../operator-image/catalog.ts";
import { UsageError } from "../usage-error.ts";
import { type AuditOptions, openAudit } from "./audit.ts";
import { writeBootstrapKubeconfig } from "./bootstrap-kubeconfig.ts";
import { type ClusterData, openData } from "./cluster-data.ts";
import { checkKubeconfig, defaultKubeconfig, mergeKubeconfig } from "./kubeconfig-file.ts";
import type { RealNodes } from "./real-nodes.ts";
import { isRunning, notedCluster, noteRunning, type RunningCluster, runFile } from "./running-clusters.ts";
import { takeBack } from "./take-back.ts";

/** The port at which nodes reach the API server, on an address that nothing else uses. */
const NODES_PORT = 6443;

/** The options of `konverge up`. */
export interface UpOptions extends AuditOptions {
  name: string;
  port: number;
  host: string;
  /** The address at which nodes and pods of other machines reach it. */
  advertiseAddress?: string;
  /** Pods of real nodes have addresses out of this range. */
  clusterCidr?: string;
  kubeconfig?: string;
  /** The minor version of Kubernetes that it serves. */
  kubernetes?: string;
  data?: string;
  /** What the state in `data` survives. */
  durability?: Durability;
  /** Simulated ones without GPUs. */
  nodes: number;
  /** Real ones on this machine. */
  realNodes?: number;
  /** The programs of real nodes, if not those that are found. */
  kubelet?: string;
  kubeProxy?: string;
  ociRuntime?: string;
  gpus: string;
  timeScale: number;
  operators: string;
  /** Serve the console. */
  console?: boolean;
  /** Real nodes join with this kubeconfig, which is written; without it, they cannot. */
  bootstrapKubeconfig?: string;
  /** Images that are programs: `IMAGE=COMMAND`. */
  program?: readonly string[];
  /** Images that are not registered cannot be pulled. */
  strictImages?: boolean;
  /** Images of which containers seem to run. */
  image?: readonly string[];
  /** Start with the state of this file, which `konverge snapshot` wrote. */
  snapshot?: string;
  /** Ports of this machine at which these listen themselves: `IMAGE=PORT`. */
  hostPort?: readonly string[];
}

/** A cluster that `konverge up` started, and how to end it. */
export interface Up {
  readonly cluster: Cluster;
  readonly port: ClusterPort;
  readonly noted: RunningCluster;
  readonly console?: Console;
  /** Saves its state where `konverge snapshot` expects it. */
  saveSnapshot(): void;
  /** Ends it cleanly: what works in it first, then the port, then its file; takes back its context. */
  stop(): Promise<void>;
}

/** Starts a cluster on a port, tells kubectl about it, and notes that it runs. While real nodes start, `signal` interrupts it. */
export async function up(options: UpOptions, machine: Clock = realClock(), signal?: AbortSignal): Promise<Up> {
  const { name } = options;
  const earlier = notedCluster(name);
  if (earlier && (await isRunning(earlier))) {
    throw new Error(
      `a cluster named ${name} is already running at ${earlier.url}: stop it with "konverge down --name ${name}", or choose another --name`,
    );
  }
  const programs = parsePrograms(options.program, options.hostPort);
  const hasOperators = !["none", ""].includes(options.operators.trim());
  if (hasOperators && isSea()) {
    throw new UsageError(
      `--operators: this executable has no operators; with Node, run: npx konverge up --operators ${options.operators}`,
    );
  }
  const catalog = hasOperators ? await operatorCatalog({ names: options.operators }) : undefined;
  const kubeconfig = resolve(options.kubeconfig ?? defaultKubeconfig());
  const user = `${name}-admin`;
  checkKubeconfig(kubeconfig, name, user);
  const unavailable = fixedTime(options, hasOperators);
  const clock = new AdjustableClock(machine, options.timeScale);
  const audit = await openAudit(options, clock);
  const data = openData(options.data, machine, options.durability);
  const real = await prepareRealNodes(options, data, machine);
  // In the order of their ends: programs in pods say goodbye through the port, and what they say is kept.
  const running = new AsyncDisposableStack();
  running.defer(() => data.journal?.close());
  if (audit) running.defer(() => audit.close());
  let port: ClusterPort | undefined;
  let nodesPort: ClusterPort | undefined;
  running.defer(async () => {
    await nodesPort?.close();
    await port?.close();
  });
  const clusterCidr = real?.network.clusterCidr ?? options.clusterCidr;
  try {
    const cluster = running.use(
      await startCluster({
        clock,
        rootCertificate: data.authority.cert,
        frontProxy: data.frontProxy,
        ...(clusterCidr !== undefined && { clusterCidr }),
        ...(options.kubernetes !== undefined && { kubernetes: options.kubernetes }),
        ...(real && { localVolumes: real.localVolumes }),
        bootstrapTokens: real !== undefined || options.bootstrapKubeconfig !== undefined,
        strictImages: options.strictImages ?? false,
        images: options.image ?? [],
        nodes: [...plainNodes(options.nodes), ...parseGpuNodes(options.gpus).map(reserved)],
        server: {
          // Pods that request GPUs tolerate the taint of nodes that have some.
          admission: { enable: ["ExtendedResourceToleration"] },
          ...(options.snapshot !== undefined && { state: savedState(options.snapshot) }),
          access: { serviceAccounts: { signingKey: data.signingKey } },
          ...(data.journal && { journal: data.journal }),
          ...(audit && { audit: audit.log }),
        },
      }),
    );
    if (catalog) await registerOperators(catalog, cluster, options.timeScale);
    for (const { image, run } of programs) cluster.image(image, { run });
    const onError: PortOptions["onError"] = (error, { method, path }) => console.error(`${method} ${path}:`, error);
    const shared = { name, authority: data.authority, onError };
    port = await cluster.listen({
      ...shared,
      port: options.port,
      host: options.host,
      ...(options.advertiseAddress !== undefined && { advertise: options.advertiseAddress }),
    });
    if (real) {
      nodesPort = await cluster.listen({ ...shared, port: NODES_PORT, host: real.network.address, dns: true });
      running.defer(() => real.remove());
      await real.start(cluster, nodesPort, signal);
      if (catalog) await real.loadOperators(catalog);
    }
    const forKubelets = options.advertiseAddress === undefined ? (nodesPort ?? port) : port;
    if (options.bootstrapKubeconfig) await writeBootstrapKubeconfig(options.bootstrapKubeconfig, cluster, forKubelets);
    // Their Deployments run the image that was registered or loaded above: in this cluster, as anything else in it.
    if (catalog) await deployAll(catalog, cluster);
    await mergeKubeconfig(kubeconfig, port.kubeconfig(user), machine);
    const noted = {
      ...{ name, pid: process.pid, url: port.url, kubeconfig, merged: options.kubeconfig === undefined },
      ...(options.realNodes && { realNodes: options.realNodes }),
    };
    noteRunning(noted);
    const served = options.console
      ? running.use(await serveConsole(cluster, name, unavailable ? { unavailable } : clock))
      : undefined;
    const stop = async () => {
      await running.disposeAsync();
      await takeBack(noted);
    };
    const save = () => saveSnapshot(runFile(name, "snapshot"), cluster.snapshot());
    return { cluster, port, noted, ...(served && { console: served }), saveSnapshot: save, stop };
  } catch (error) {
    await running.disposeAsync();
    await real?.removeUnusedNetwork();
    throw error;
  }
}

/** GPU nodes run pods that request GPUs, and no others, as clouds and NVIDIA's GPU operator set them up. */
function reserved(node: NodeShape): NodeShape {
  return { ...node, taints: [{ key: "nvidia.com/gpu", value: "present", effect: "NoSchedule" }] };
}

function savedState(file: string): Snapshot {
  try {
    return loadSnapshot(resolve(file));
  } catch (error) {
    throw new UsageError(`--snapshot ${file}: ${(error as Error).message}`, { cause: error });
  }
}

/** Nothing of real nodes is loaded for a cluster without any. */
async function prepareRealNodes(options: UpOptions, data: ClusterData, clock: Clock): Promise<RealNodes | undefined> {
  const { name, realNodes: count = 0, kubelet, kubeProxy, ociRuntime, clusterCidr } = options;
  if (count === 0) return undefined;
  if (options.timeScale !== 1) throw new UsageError("--real-nodes live in real time: leave out --time-scale");
  const { RealNodes: Nodes } = await import("./real-nodes.ts");
  return Nodes.prepare({
    ...{ cluster: name, count, certificateAuthority: data.authority.cert, clock },
    ...(options.data !== undefined && { volumes: resolve(options.data, "volumes") }),
    ...(kubelet !== undefined && { kubelet }),
    ...(kubeProxy !== undefined && { kubeProxy }),
    ...(ociRuntime !== undefined && { ociRuntime }),
    ...(clusterCidr !== undefined && { clusterCidr }),
  });
}

/** Why the time of a cluster passes as it was started, if it does. */
function fixedTime({ realNodes = 0 }: UpOptions, hasOperators: boolean): string | undefined {
  if (realNodes > 0) return "its nodes are real ones";
  return hasOperators ? "its operators run in separate processes with their own clocks" : undefined;
}

async function serveConsole(cluster: Cluster, title: string, time: EmbeddedOptions["time"]): Promise<Console> {
  const { startConsole } = await import("@konverge/console");
  return startConsole({ client: cluster.client, title, embedded: { cluster, time } });
}

// Most clusters are started without operators: what these need is loaded with the first of them.

async function registerOperators(catalog: OperatorCatalog, cluster: Cluster, timeScale: number): Promise<void> {
  const { OPERATOR_IMAGE, operatorProgram } = await import("../operator-image/operator-image.ts");
  cluster.image(OPERATOR_IMAGE, { run: operatorProgram(catalog, { clock: cluster.clock, timeScale }) });
}

async function deployAll({ operators }: OperatorCatalog, { client }: Cluster): Promise<void> {
  const { deployObjects } = await import("../deploy/deploy.ts");
  const { DEFAULT_NAMESPACE } = await import("../manifests/defaults.ts");
  const installations = operators.map(({ objects }) => objects);
  await deployObjects(installations, client, { namespace: DEFAULT_NAMESPACE, tell: () => {} });
}

/** Images whose containers run a command of this machine: `example/web=node web.js`. */
function parsePrograms(programs: readonly string[] = [], hostPorts: readonly string[] = []) {
  const ports = hostPorts.map((text) => {
    const [, image, port] = /^(.+)=(\d{1,5})$/.exec(text) ?? [];
    if (image !== undefined && Number(port) > 0 && Number(port) < 65_536) return { image, port: Number(port) };
    throw new UsageError(`--host-port ${text}: it must be IMAGE=PORT`);
  });
  const parsed = programs.map((text) => {
    const at = text.indexOf("=");
    const [image, command] = [text.slice(0, at), text.slice(at + 1).trim()];
    if (at < 1 || command === "") throw new UsageError(`--program ${text}: it must be IMAGE=COMMAND`);
    const words = process.platform === "win32" ? command.split(/\s+/) : ["sh", "-c", `exec ${command} "$@"`, "sh"];
    const own = ports.filter((one) => one.image === image).map(({ port }) => port);
    return { image, run: childProgram(words, { hostPorts: own }) };
  });
  const stray = ports.find(({ image }) => !parsed.some((one) => one.image === image));
  if (stray)
    throw new UsageError(`--host-port ${stray.image}=${stray.port}: no --program has the image ${stray.image}`);
  return parsed;
}
