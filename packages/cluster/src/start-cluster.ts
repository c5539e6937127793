import {
  ApiServer,
  type ApiServerOptions,
  type Authority,
  createAuthority,
  type Guard,
  loadSnapshot,
  type Snapshot,
} from "@konverge/apiserver";
import { Client } from "@konverge/client";
import { type Clock, type ObjectKey, realClock, VirtualClock } from "@konverge/core";
import type { Log } from "@konverge/runtime";
import { CONTROL_PLANE } from "./control-plane-address.ts";
import { CONTROL_PLANE_COMPONENTS } from "./control-plane-components.ts";
import { accountAdmission } from "./controllers/account-admission.ts";
import { nodeIpam } from "./controllers/node/node-ipam.ts";
import { allowNodesToJoin, publishClusterInfo } from "./controllers/node-bootstrap/join-objects.ts";
import { bootstrapSigner, tokenCleaner } from "./controllers/node-bootstrap/token-controllers.ts";
import { type Image, Images, type ImagesOptions } from "./images/image.ts";
import { Kubelet } from "./kubelet/kubelet.ts";
import { DEFAULT_NODES, type NodeShape } from "./kubelet/node-shape.ts";
import { nodeStreams } from "./node-streams/node-streams.ts";
import { ControlPlane } from "./parts/control-plane.ts";
import { NodePulse } from "./parts/node-pulse.ts";
import type { ControlPlaneComponent, LocalVolumes } from "./parts/part.ts";
import { extensionCaller } from "./port/call-extension.ts";
import { webhookCaller } from "./port/call-webhook.ts";
import { ClusterFront } from "./port/front.ts";
import { type ClusterPort, openPort, type PortOptions } from "./port/open-port.ts";
import { KubeletClient } from "./real-nodes/kubelet-client.ts";
import { realStreams } from "./real-nodes/kubelet-streams.ts";
import { type SettledOptions, settled } from "./rest/settled.ts";
import { knowing } from "./rest/timed-work.ts";
import { goBack } from "./state/go-back.ts";
import { storedServices } from "./streams/service-source.ts";

export interface ClusterOptions extends ImagesOptions {
  /** Default: the machine's. */
  clock?: Clock;
  /** What works in the cluster besides the API server. Default: all of it. */
  parts?: readonly ControlPlaneComponent[];
  /** The simulated nodes. Default: a few, which come with the first object that needs them. */
  nodes?: readonly NodeShape[];
  /**
   * A file that `konverge snapshot` wrote: the cluster begins with that state, and with the nodes in it. Default: it begins
   * empty.
   */
  from?: string;
  /**
   * The minor version of Kubernetes that it serves, `1.33` to `1.37`: kinds, fields, defaults and feature gates are those of that
   * version. Default: 1.36.
   */
  kubernetes?: string;
  /** How the API server is set up: an earlier state, a journal, tokens. */
  server?: Omit<ApiServerOptions, "clock">;
  /** The certificate by which clients know the server, in PEM: pods find it in `kube-root-ca.crt`. */
  rootCertificate?: string;
  /** Signs the certificate by which other API servers know this one (APIServices): they find it in kube-system. */
  frontProxy?: Authority;
  /** Let real nodes join by bootstrap tokens, once the cluster has a port. Default: no. */
  bootstrapTokens?: boolean;
  /** Gives each node without one a range of addresses for its pods, a /24 out of this one: `10.88.0.0/16`. Default: none. */
  clusterCidr?: string;
  /** Makes volumes on real nodes; the default StorageClass then waits for the first pod. Default: on simulated ones alone. */
  localVolumes?: LocalVolumes;
  log?: Log;
}

/** The common name of the certificate that other API servers are shown. */
const FRONT_PROXY = "front-proxy-client";

/** An embedded cluster in this process: an API server, the built-in controllers and simulated nodes. */
export interface Cluster extends AsyncDisposable {
  readonly server: ApiServer;
  /** What a port serves: the server, and what only nodes can answer. */
  readonly guard: Guard;
  /** Acts as the cluster's administrator. */
  readonly client: Client;
  readonly clock: Clock;
  readonly controlPlane: ControlPlane;
  /** The nodes, and the pods that run on them. */
  readonly kubelet: Kubelet;
  /** Faults that can be caused by hand while it runs. */
  readonly faults: ClusterFaults;
  /**
   * Registers an image: how its containers behave, or which program they run. With its name alone they seem to run, unless
   * more is known of it.
   */
  image(name: string, image?: Image): void;
  /** Serves the cluster on a port of this machine. Programs in its pods reach it there, in the name of their accounts. */
  listen(options?: PortOptions): Promise<ClusterPort>;
  /**
   * Resolves when the cluster is idle: nothing is under way, every watcher has all events, only background timers are
   * left, and for some minutes nothing but heartbeats has been written. Throws a {@link NotSettledError}
   * that names what still works otherwise. On a {@link VirtualClock} it moves the time itself: nothing else should do so.
   */
  settled(options?: SettledOptions): Promise<void>;
  /** The whole state, to go back to or to start another cluster from. Takes no time and never changes. */
  snapshot(): Snapshot;
  /** Goes back to an earlier state. Controllers, nodes and clients keep running, and observe the changes. */
  restore(state: Snapshot): void;
  /** Another cluster with the same state, which lives its own life from then on, at the same time of the same day. */
  fork(options?: ForkOptions): Promise<Cluster>;
  stop(): Promise<void>;
}

/**
 * Faults of a cluster that no API offers. A node is lost by an annotation on it: `sim.konverge.dev/kubelet: stopped`.
 */
export interface ClusterFaults {
  /** Milliseconds that each request through a port waits before it is answered. Default: 0. */
  requestDelay: number;
  /** Kills the containers of a pod on a simulated node, as a crash does: `namespace/name`. False if there is no such pod. */
  crashPod(pod: ObjectKey): boolean;
}

/** What is different in a fork. */
export interface ForkOptions {
  /** Default: for a virtual clock one that starts at the present time, else the same. */
  clock?: Clock;
  log?: Log;
}

/**
 * Starts a cluster. It has no port: its client speaks to the server directly. Once it is there, pods can be created in
 * the default namespace.
 *
 * ```ts
 * await using cluster = await startCluster();
 * await cluster.client.create(Deployment, web);
 * ```
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { from, ...given } = options;
  const begun = from === undefined ? given : beginningWith(loadSnapshot(from), given);
  return clusterOf({ ...begun, clock: knowing(options.clock ?? realClock()) }, new Images(options));
}

/** How a cluster begins with a state from elsewhere: with its nodes, if it has any, and no others. */
function beginningWith(state: Snapshot, options: ClusterOptions): ClusterOptions {
  const hasNodes = (state.collections.get("/nodes")?.size ?? 0) > 0;
  return { ...(hasNodes && { nodes: [] }), ...options, server: { ...options.server, state } };
}

async function clusterOf(
  options: ClusterOptions & { clock: Clock },
  images: Images,
  /** Signs the certificates of clients: that of the port, as soon as there is one. */
  authority?: Authority,
): Promise<Cluster> {
  const { clock, rootCertificate, frontProxy, log } = options;
  const kubelet = new Kubelet({ nodes: options.nodes ?? DEFAULT_NODES, images, atOnce: options.nodes !== undefined });
  const bootstrap = options.bootstrapTokens ? [bootstrapSigner, tokenCleaner] : [];
  const ipam = options.clusterCidr === undefined ? [] : [nodeIpam(options.clusterCidr)];
  const parts = options.parts ?? [...CONTROL_PLANE_COMPONENTS, ...bootstrap, ...ipam, kubelet.part];
  const pulse = new NodePulse();
  if (parts.some(({ name }) => name === kubelet.part.name)) pulse.nodesMade = kubelet.nodesMade;
  const currentAuthority = () => (authority ??= createAuthority(realClock()));
  const kubelets = new KubeletClient({ store: () => server.store, authority: currentAuthority });
  const server: ApiServer = new ApiServer({
    kubelet: nodeStreams(kubelet, images, clock, realStreams(kubelets)),
    callWebhook: webhookCaller(() => front.inside),
    aggregation: {
      call: extensionCaller(kubelet, frontProxy?.client(FRONT_PROXY)),
      ...(frontProxy && {
        frontProxy: {
          ca: frontProxy.cert,
          names: [FRONT_PROXY],
          ...(rootCertificate && { clientCa: rootCertificate }),
        },
      }),
    },
    advertise: CONTROL_PLANE,
    ...options.server,
    ...(options.kubernetes !== undefined && { kubernetes: options.kubernetes }),
    access: { ...options.server?.access, ...(options.bootstrapTokens && { bootstrapTokens: true }) },
    admission: accountAdmission(parts, options.server?.admission),
    clock,
  });
  // What every cluster begins with must be kept: without it, no request could be answered.
  await server.store.durable()?.catch((error) => {
    server.close();
    throw error;
  });
  kubelet.store = server.store;
  const front: ClusterFront = new ClusterFront({
    server,
    kubelet,
    kubelets,
    clock,
    pulse,
    ...(options.server?.audit && { audit: options.server.audit }),
  });
  const client = new Client(front.transport, { clock });
  const controlPlane = new ControlPlane({
    server,
    clock,
    parts,
    as: (user) => front.as(user),
    pulse,
    fresh: !options.server?.state && !options.server?.journal,
    authority: currentAuthority,
    ...(rootCertificate && { rootCertificate }),
    ...(options.localVolumes && { localVolumes: options.localVolumes }),
    ...(log && { log }),
  });
  await controlPlane.prepared();
  const stop = async () => {
    await controlPlane.stop();
    await kubelets.close();
    server.close();
  };
  const image = (name: string, known?: Image) => images.register(name, known);
  return {
    server,
    guard: front.guard,
    client,
    clock,
    controlPlane,
    kubelet,
    faults: {
      get requestDelay() {
        return front.requestDelay;
      },
      set requestDelay(ms) {
        front.requestDelay = ms;
      },
      crashPod: (pod) => kubelet.crash(pod),
    },
    image,
    listen: async (place = {}) => {
      if (options.bootstrapTokens) await allowNodesToJoin(client);
      const port = await openPort(front.guard, { ...(authority && { authority }), ...place });
      const { advertised } = port;
      if (advertised) server.advertise(advertised);
      if (options.bootstrapTokens) await publishClusterInfo(client, advertised?.url ?? port.url, port.authority.cert);
      authority = port.authority;
      const host = new URL(port.url).hostname.replace(/^\[|\]$/g, "");
      const everywhere = host === "0.0.0.0" || host === "::";
      kubelet.apiServer = { host: everywhere ? "127.0.0.1" : host, port: port.port, ca: port.authority.cert };
      if (!place.dns) return port;
      // Few clusters have real nodes.
      const { serveDns } = await import("./real-nodes/dns/kube-dns.ts");
      const dns = await serveDns(storedServices(server.store), client, { listen: host, ip: advertised?.ip ?? host });
      const close = async () => {
        await dns.close();
        await port.close();
      };
      return { ...port, close, [Symbol.asyncDispose]: close };
    },
    settled: (conditions) => settled(server, clock, conditions),
    snapshot: () => server.snapshot(),
    restore: (state) => goBack(server, state),
    fork: (changes = {}) => {
      // What is written down elsewhere is written by the first cluster alone.
      const { journal, audit, ...setUp } = options.server ?? {};
      const time = clock instanceof VirtualClock ? new VirtualClock({ start: clock.now() }) : clock;
      const own = { clock: time, ...changes, server: { ...setUp, state: server.snapshot() } };
      return clusterOf({ ...options, ...own, clock: knowing(own.clock) }, images.fork(), authority);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
