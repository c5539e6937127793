import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type Client, connect } from "@konverge/client";
import { DEFAULT_NODES, type NodeShape } from "@konverge/cluster";
import { realClock, sleep, type Transport } from "@konverge/core";
import { Namespace, Node } from "@konverge/kinds";
import { type RealCluster, startRealCluster } from "@konverge/real";
import {
  type FaultInjector,
  OperatorTestEnvironment,
  type Scenario,
  serveWebhooksOnPort,
  type TestBackend,
  UNREACHABLE_WEBHOOK_URL,
} from "@konverge/testing";
import { emptied, freshNamespace, type PodSecurityLevel, withoutInstances } from "./clearing.ts";
import { shellFor } from "./kubectl.ts";
import { podStages } from "./kwok-pods.ts";

/** A namespace of a real control plane, as a test backend. */
export interface RealGround extends TestBackend {
  end(): Promise<void>;
}

/** Operators count as idle after this time without a write, in milliseconds. */
const QUIET = 3_000;
const SETTLING = 120_000;
const PATIENCE = 90_000;

/** A real control plane on which scenarios run, one after another, each in a separate namespace. */
export interface RealStages extends AsyncDisposable {
  readonly cluster: RealCluster;
  readonly client: Client;
  /** Asserts that no request of an operator is refused, as it has exactly its role. */
  play(name: string, scenario: Scenario, faults?: FaultInjector): Promise<void>;
}

/** Starts a real control plane with simulated nodes. */
export async function realStages(
  options: { nodes?: readonly NodeShape[]; podSecurity?: PodSecurityLevel } = {},
): Promise<RealStages> {
  const cluster = await startRealCluster({
    controllers: true,
    scheduler: true,
    kwok: { nodes: 0 },
    podStages: podStages(),
  });
  const client = await connect({ kubeconfig: cluster.kubeconfig });
  for (const shape of options.nodes ?? DEFAULT_NODES) await client.create(Node, kwokNode(shape) as never);
  return {
    cluster,
    client,
    async play(namespace, scenario, faults) {
      const ground = await realGround(cluster, client, namespace, options.podSecurity);
      const refused: string[] = [];
      const stage = new OperatorTestEnvironment(ground, { ...faults, denied: (message) => refused.push(message) });
      try {
        await scenario(stage);
        assert.deepEqual(refused, [], "the role does not allow what the operator does");
      } finally {
        await withoutInstances(stage);
        await stage.end();
        await ground.end();
      }
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await cluster.stop();
    },
  };
}

/** A node that KWOK keeps alive. */
export function kwokNode({ name, capacity, labels, taints }: NodeShape): object {
  return {
    metadata: {
      name,
      annotations: { "kwok.x-k8s.io/node": "fake" },
      labels: { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", type: "kwok", ...labels },
    },
    ...(taints && { spec: { taints } }),
    status: { capacity, allocatable: capacity },
  };
}

async function realGround(
  cluster: RealCluster,
  client: Client,
  namespace: string,
  podSecurity: PodSecurityLevel | undefined,
): Promise<RealGround> {
  const clock = realClock();
  // It may be one that every cluster has, or one whose last scenario is still being taken down.
  const isNew = await freshNamespace(client, namespace, podSecurity);
  const clients: Client[] = [];
  const shell = shellFor(readFileSync(cluster.kubeconfig, "utf8"), namespace);
  const ground: RealGround = {
    where: "real",
    client,
    clock,
    namespace,
    cluster: undefined,
    timeout: PATIENCE,
    conversionUrl: () => UNREACHABLE_WEBHOOK_URL,
    wait: (promise) => promise,
    advance: (ms) => sleep(clock, ms),
    async connect(account) {
      const { token } = await client.requestToken(`${account.namespace}/${account.name}`);
      let transport: Transport | undefined;
      clients.push(
        await connect({
          config: {
            server: cluster.url,
            ca: { value: cluster.ca },
            credentials: { token: { value: token } },
          },
          around: (socket) => {
            transport = socket;
            return socket;
          },
        }),
      );
      return transport!;
    },
    register: (process) => serveWebhooksOnPort(process, client),
    async settled(writes) {
      const start = clock.monotonic();
      let [count, since] = [writes(), start];
      while (clock.monotonic() - since < QUIET) {
        if (clock.monotonic() - start > SETTLING)
          throw new Error("it does not become idle: the operators keep writing");
        await sleep(clock, 200);
        if (writes() !== count) [count, since] = [writes(), clock.monotonic()];
      }
    },
    shell: (command, more) => shell.run(command, more),
    async end() {
      await shell.end();
      for (const one of clients) await one.close();
      if (!isNew) await emptied(client, namespace);
      for (const name of [...(isNew ? [namespace] : []), `${namespace}-system`]) {
        await client.delete(Namespace, name).catch(() => undefined);
      }
    },
  };
  return ground;
}
