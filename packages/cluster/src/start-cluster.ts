import { ApiServer, type ApiServerOptions, type Guard } from "@konverge/apiserver";
import { Client } from "@konverge/client";
import { type Clock, realClock } from "@konverge/core";
import type { Log } from "@konverge/runtime";
import { type Image, Images } from "./images/image.ts";
import { Kubelet } from "./kubelet/kubelet.ts";
import { DEFAULT_NODES, type NodeShape } from "./kubelet/node-shape.ts";
import { ControlPlane } from "./parts/control-plane.ts";
import type { Part } from "./parts/part.ts";
import { PARTS } from "./parts/parts.ts";
import { ClusterFront } from "./port/front.ts";
import { nodeStreams } from "./streams/node-streams.ts";

export interface ClusterOptions {
  /** Default: the machine's. */
  clock?: Clock;
  /** What works in the cluster besides the API server. Default: all of it. */
  parts?: readonly Part[];
  /** The simulated nodes. Default: a few, which come with the first object that needs them. */
  nodes?: readonly NodeShape[];
  /** How the API server is set up: an earlier state, a journal, tokens. */
  server?: Omit<ApiServerOptions, "clock">;
  /** The certificate by which clients know the server, in PEM: pods find it in `kube-root-ca.crt`. */
  rootCertificate?: string;
  log?: Log;
}

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
  /** Says how containers of an image behave, or which program they run. */
  image(name: string, image: Image): void;
  stop(): Promise<void>;
}

/**
 * Starts a cluster. It has no port: its client speaks to the server directly.
 *
 * ```ts
 * await using cluster = await startCluster();
 * await cluster.client.create(Deployment, web);
 * ```
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { clock = realClock(), rootCertificate, log } = options;
  const images = new Images();
  const kubelet = new Kubelet({ nodes: options.nodes ?? DEFAULT_NODES, images, atOnce: options.nodes !== undefined });
  const parts = options.parts ?? [...PARTS, kubelet.part];
  const server = new ApiServer({ kubelet: nodeStreams(kubelet, images, clock), ...options.server, clock });
  const front = new ClusterFront(server, kubelet, clock, options.server?.audit);
  const client = new Client(front.transport, { clock });
  const controlPlane = new ControlPlane({
    server,
    clock,
    parts,
    fresh: !options.server?.state && !options.server?.journal,
    ...(rootCertificate && { rootCertificate }),
    ...(log && { log }),
  });
  const stop = async () => {
    await controlPlane.stop();
    server.close();
  };
  const image = (name: string, known: Image) => images.register(name, known);
  return { server, guard: front.guard, client, clock, controlPlane, kubelet, image, stop, [Symbol.asyncDispose]: stop };
}
