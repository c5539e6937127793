import { connect } from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import { drained } from "@konverge/core";
import type { Pod } from "@konverge/kinds";
import type { Room } from "../userland/process.ts";
import { dial, inGoWords } from "./dial.ts";
import type { ExposedPorts, LocalAddress } from "./exposed-ports.ts";
import { Listeners } from "./listeners.ts";
import { isProxyable } from "./proxyable-address.ts";

/** A connection to a port of a pod. */
export interface PortConnection {
  readonly pod: Pod;
  readonly port: number;
  readonly incoming: AsyncIterable<Uint8Array>;
  /** What it returns, if anything, resolves when the client has taken enough that there is room for more. */
  write(data: string | Uint8Array): Room;
  readonly signal: AbortSignal;
}

/** How an image answers connections to its containers. */
type Connect = (connection: PortConnection) => Promise<void>;

/** What the network needs to know about what runs in pods. */
export interface NetworkHost {
  readonly exposed: ExposedPorts;
  image(reference: string | undefined): { readonly connect?: Connect | undefined } | undefined;
  /** Whether a real kubelet runs the pods of a node: their addresses are of this machine's network. */
  isReal(node: string): boolean;
}

/** The source address of a connection from outside the pod network: the API server's or a node's. */
const OUTSIDE = "10.244.255.1";

/**
 * Reaches the ports of pods: those of simulated programs, of programs on this machine, and those that an image's `connect`
 * answers. Connections to any other port are refused, as they would be. Pods of real nodes are reached over
 * the machine's network.
 */
export class PodNetwork {
  readonly #host: NetworkHost;
  /** The simulated programs that listen. */
  readonly listeners = new Listeners();

  constructor(host: NetworkHost) {
    this.#host = host;
  }

  /** Connects to a port of a pod. */
  async dial(pod: Pod, port: number, from = OUTSIDE): Promise<Duplex> {
    if (this.#host.isReal(pod.spec?.nodeName ?? "")) return dialReal(pod, port);
    const simulated = this.listeners.connect(pod.metadata.uid ?? "", port, from);
    if (simulated) return simulated;
    for (const address of this.#host.exposed.find(pod.metadata.uid ?? "", port)) {
      const connection = await dialLocal(address).catch(() => undefined);
      if (connection) return connection;
    }
    const scripted = this.#scripted(pod);
    if (scripted) return answered(scripted, pod, port);
    const where = pod.status?.podIP ?? pod.metadata.name;
    throw new Error(`dial tcp ${where}:${port}: connect: connection refused`);
  }

  #scripted(pod: Pod): Connect | undefined {
    for (const { name, image } of pod.spec?.containers ?? []) {
      const isRunning = pod.status?.containerStatuses?.some((one) => one.name === name && one.state?.running);
      const known = isRunning ? this.#host.image(image) : undefined;
      if (known?.connect) return known.connect.bind(known);
    }
    return undefined;
  }
}

async function dialReal({ metadata, status }: Pod, port: number): Promise<Duplex> {
  const { podIP = "" } = status ?? {};
  if (podIP === "") throw new Error(`pod ${metadata.name} does not have an IP address yet`);
  if (!isProxyable(podIP)) throw new Error("address not allowed");
  return dial(podIP, port).catch((error: unknown) => {
    throw new Error(inGoWords(error, podIP), { cause: error });
  });
}

function dialLocal({ host = "127.0.0.1", port }: LocalAddress): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
    socket.once("error", reject);
  });
}

function answered(handler: Connect, pod: Pod, port: number): Duplex {
  const [near, far] = duplexPair();
  const closed = new AbortController();
  far.once("close", () => closed.abort());
  far.on("error", () => {});
  const connection = {
    pod,
    port,
    incoming: far as AsyncIterable<Uint8Array>,
    write: (data: string | Uint8Array) => (far.write(data) ? undefined : drained(far)),
    signal: closed.signal,
  };
  handler(connection).then(
    () => far.end(),
    () => near.destroy(new Error("connection reset by peer")),
  );
  return near;
}
