import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { createAuthority } from "@konverge/apiserver";
import { type Client, connect } from "@konverge/client";
import {
  AdjustableClock,
  type Cluster,
  type ClusterPort,
  type Image,
  type Program,
  plainNodes,
  startCluster,
} from "@konverge/cluster";
import { realClock, sleep } from "@konverge/core";
import { Pod, type PodSpec } from "@konverge/kinds";

/** A cluster on a port, in which images are programs. */
export interface ProgramStage extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly port: ClusterPort;
  /** Through the port, as kubectl would. */
  readonly client: Client;
  pod(
    name: string,
    spec: Partial<PodSpec> & Pick<PodSpec, "containers">,
    labels?: Record<string, string>,
  ): Promise<Pod>;
  get(name: string): Promise<Pod>;
  logs(name: string): Promise<string[]>;
}

/** `scale`: how many times as fast as the machine's the cluster's time passes. */
export async function programStage(images: Record<string, Image>, { scale = 1 } = {}): Promise<ProgramStage> {
  const authority = createAuthority(realClock());
  const clock = new AdjustableClock(realClock(), scale);
  const cluster = await startCluster({ rootCertificate: authority.cert, nodes: plainNodes(1), clock });
  for (const [name, image] of Object.entries(images)) cluster.image(name, image);
  const port = await cluster.listen({ authority });
  const { cert, key } = port.credential("admin", ["system:masters"]);
  const config = {
    server: port.url,
    ca: { value: authority.cert },
    cert: { value: cert },
    key: { value: key },
    namespace: "default",
  };
  const client = await connect({ config, retry: false });
  return {
    cluster,
    port,
    client,
    pod: (name, spec, labels = {}) => client.create(Pod, { metadata: { name, namespace: "default", labels }, spec }),
    get: (name) => client.get(Pod, `default/${name}`),
    async logs(name) {
      const lines: string[] = [];
      for await (const line of client.logs(`default/${name}`)) lines.push(line);
      return lines;
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await cluster.stop();
      await port.close();
    },
  };
}

/** A program that answers HTTP requests on port 80 until it is to stop. */
export function webProgram(answer: RequestListener): Program {
  return async ({ expose, stop }) => {
    const server = createServer(answer).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    expose(80, server.address() as AddressInfo);
    await new Promise((resolve) => stop.addEventListener("abort", resolve, { once: true }));
    server.closeAllConnections();
    server.close();
    return 0;
  };
}

/** Waits until there is an answer; a minute at most. */
export async function until<T>(what: string, ask: () => Promise<T | undefined | false>): Promise<T> {
  const clock = realClock();
  const deadline = clock.monotonic() + 60_000;
  let last: unknown;
  for (;;) {
    const answer = await ask().catch((error: unknown) => {
      last = error;
      return undefined;
    });
    if (answer) return answer;
    if (clock.monotonic() > deadline) throw new Error(`it never came true that ${what}`, { cause: last });
    await sleep(clock, 20);
  }
}

/** The pod, once its only container has ended. */
export function ended(stage: ProgramStage, name: string) {
  return until(`${name} has ended`, async () => {
    const { status } = await stage.get(name);
    return status?.containerStatuses?.[0]?.state?.terminated;
  });
}
