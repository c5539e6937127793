import { ApiServer } from "@konverge/apiserver";
import { Client } from "@konverge/client";
import { type Clock, realClock } from "@konverge/core";
import { type Manager, run } from "@konverge/runtime";
import { deployments } from "./controllers/deployment.ts";
import { replicaSets } from "./controllers/replica-set.ts";
import { kubelet } from "./kubelet/pods.ts";

export interface ClusterOptions {
  clock?: Clock;
}

/** An embedded cluster in this process: an API server, the built-in controllers and simulated nodes. */
export interface Cluster extends AsyncDisposable {
  readonly server: ApiServer;
  readonly client: Client;
  readonly clock: Clock;
  stop(): Promise<void>;
}

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const clock = options.clock ?? realClock();
  const server = new ApiServer({ clock });
  const client = new Client(server.transport, { clock });
  const manager: Manager = await run([deployments, replicaSets, kubelet] as never[], { client });
  const stop = async () => {
    await manager.stop();
    server.close();
  };
  return { server, client, clock, stop, [Symbol.asyncDispose]: stop };
}
