import { after, before } from "node:test";
import { kubeflowOperator } from "@konverge/kubeflow-operator";
import { findControlPlane, startRealCluster } from "@konverge/real";
import { Manager } from "konverge";
import { type Client, connect } from "konverge/client";
import { CustomResourceDefinition, Namespace, ServiceAccount } from "konverge/kinds";
import { silentLog } from "konverge/observability";
import { sleep } from "konverge/time";
import { Registry } from "prom-client";
import type { Sides } from "./duel.ts";
import { buildUpstream, findUpstream } from "./locate.ts";
import { type Referee, startReferee } from "./referee.ts";

/**
 * A real control plane on which both operators work, each in its own namespace. There are no nodes: what becomes of pods
 * is what a test says.
 */
export interface Arena {
  readonly client: Client;
  readonly sides: Sides;
  readonly referee: Referee;
}

/** Why there can be no arena; false if there can. Upstream's operator is built when it is first needed. */
export function whyNoArena(): string | false {
  const plane = findControlPlane();
  if (!plane.available) return plane.why;
  const upstream = findUpstream();
  return upstream.available || upstream.buildable ? false : upstream.why;
}

/**
 * Sets up the environment for the comparisons of a file: one pair of operators for each gang scheduler. Returns a function
 * that gives the environment for a scheduler.
 */
export function arena(
  options: { gangSchedulers?: readonly string[]; crds?: readonly CustomResourceDefinition[] } = {},
): (gangScheduler?: string) => Arena {
  const { gangSchedulers = ["none"], crds = [] } = options;
  const arenas = new Map<string, Arena>();
  const closing: (() => Promise<unknown>)[] = [];
  before(
    async () => {
      const upstream = buildUpstream();
      if (!upstream.available) throw new Error(upstream.why);
      const cluster = await startRealCluster({ controllers: true });
      closing.unshift(() => cluster.stop());
      const client = await connect({ kubeconfig: cluster.kubeconfig });
      closing.unshift(() => client.close());
      await install(client, [...kubeflowOperator.kinds.map((kind) => kind.crd()), ...crds]);
      for (const gangScheduler of gangSchedulers) {
        const sides = { ours: `ours-${gangScheduler}`, theirs: `theirs-${gangScheduler}` };
        for (const name of Object.values(sides)) await namespace(client, name);
        closing.unshift(await startOurs(client, sides.ours, gangScheduler));
        const referee = await startReferee(upstream.program, {
          client,
          kubeconfig: cluster.kubeconfig,
          folder: cluster.folder,
          namespace: sides.theirs,
          ...(gangScheduler !== "none" && { gangScheduler }),
        });
        closing.unshift(async () => referee[Symbol.asyncDispose]());
        arenas.set(gangScheduler, { client, sides, referee });
      }
    },
    { timeout: 900_000 },
  );
  after(async () => {
    for (const close of closing) await close();
  });
  return (gangScheduler = gangSchedulers[0]!) => arenas.get(gangScheduler)!;
}

/** Both use this operator's CRDs. */
async function install(client: Client, crds: readonly CustomResourceDefinition[]): Promise<void> {
  for (const crd of crds) await client.create(CustomResourceDefinition, crd);
  for (const { metadata } of crds) {
    await until(client, `${metadata.name} is served`, async () => {
      const { status } = await client.get(CustomResourceDefinition, metadata.name);
      return status?.conditions?.some((one) => one.type === "Established" && one.status === "True") ?? false;
    });
  }
}

async function namespace(client: Client, name: string): Promise<void> {
  await client.create(Namespace, { metadata: { name } });
  await until(client, `${name} has an account for pods`, () =>
    client.get(ServiceAccount, `${name}/default`).then(
      () => true,
      () => false,
    ),
  );
}

async function startOurs(client: Client, name: string, gangSchedulerName: string): Promise<() => Promise<void>> {
  const { controllers } = kubeflowOperator.create({
    metrics: new Registry(),
    // Upstream's init container uses this image.
    settings: { gangSchedulerName, pytorchInitContainerImage: "alpine:3.10" },
    log: silentLog,
  });
  const manager = new Manager(controllers, { client, namespaces: [name] });
  await manager.start();
  return async () => {
    await manager.stop();
  };
}

/** Waits a bounded time. */
export async function until(client: Client, what: string, condition: () => Promise<boolean>): Promise<void> {
  const end = client.clock.monotonic() + 60_000;
  while (!(await condition())) {
    if (client.clock.monotonic() > end) throw new Error(`it never came true that ${what}`);
    await sleep(client.clock, 100);
  }
}
