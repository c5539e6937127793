import assert from "node:assert/strict";
import { test } from "node:test";
import { type Client, connect } from "@konverge/client";
import { BUILT_IN_CONTROLLERS, type Cluster, startCluster } from "@konverge/cluster";
import { sleep, timestamp, VirtualClock } from "@konverge/core";
import { Namespace, ServiceAccount } from "@konverge/kinds";
import type { startRealCluster } from "@konverge/real";
import type { Log } from "@konverge/runtime";
import { CUSTOM, EXTERNAL, jsonAnswer, type Measures, measured } from "./measures.ts";
import { registerMetrics } from "./metrics-server.ts";
import type { Behavior, Stage } from "./stage.ts";

/** A cluster on virtual time. */
export interface VirtualStage extends Stage {
  readonly clock: VirtualClock;
  readonly cluster: Cluster;
  /** Lets time pass. */
  pass(ms: number): Promise<void>;
}

/** The timeout of a condition, in milliseconds of virtual time. */
const PATIENCE = 30 * 60_000;

/** The same on a real control plane: some tests wait for the next full minute. */
const REAL_PATIENCE = 180_000;

/** Runs the clock until a promise settles. */
export async function during<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promise.then(settle, settle);
  await new Promise((resolve) => setImmediate(resolve));
  // Time moves on only when nothing is left to do at the present moment.
  while (!isSettled) if (!(await clock.step(clock.monotonic())) && !isSettled) await clock.step();
  return promise;
}

export interface VirtualStageOptions {
  seed?: number;
  shuffle?: boolean;
  log?: Log;
  /** With a scheduler, and nodes that work as soon as they are created. Default: controllers only. */
  nodes?: boolean;
  /** With an aggregated API server that serves the test's metrics. */
  metrics?: boolean;
}

export async function virtualStage(options: VirtualStageOptions = {}): Promise<VirtualStage> {
  const clock = new VirtualClock(options);
  const measures: Measures = new Map();
  const starting = startCluster({
    clock,
    ...(options.nodes ? { nodes: [] } : { parts: BUILT_IN_CONTROLLERS }),
    server: { aggregation: { call: async (_, { path }) => jsonAnswer(measured(measures, path, timestamp(clock))) } },
    ...(options.log && { log: options.log }),
  });
  const cluster = await during(clock, starting);
  const { client } = cluster;
  if (options.metrics) await during(clock, registerMetrics(client, [CUSTOM, EXTERNAL], { port: 443 }));
  const namespace = "stage";
  for (const name of ["default", "kube-system", namespace]) {
    await during(
      clock,
      client.create(Namespace, { metadata: { name } }).catch(() => undefined),
    );
  }
  const quiet = async () => {
    // Whatever is due now, and whatever that brings about within a second: retries of conflicts.
    await clock.advance(1_000);
  };
  return {
    client: patient(client, clock),
    namespace,
    measures,
    clock,
    cluster,
    quiet,
    pass: (ms) => clock.advance(ms),
    async until(what, holds) {
      const start = clock.monotonic();
      const end = start + PATIENCE;
      for (;;) {
        await clock.advance(0);
        if (await holds()) return;
        if (clock.monotonic() > end) assert.fail(`it never came true that ${what}`);
        // What takes long is not looked at as closely.
        await clock.advance(clock.monotonic() < start + 5_000 ? 50 : 500);
      }
    },
  };
}

/** A client whose calls advance the clock, so that a test can simply await them. */
function patient(client: Client, clock: VirtualClock): Client {
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        const answer: unknown = value.apply(target, args);
        return answer instanceof Promise ? during(clock, answer) : answer;
      };
    },
  });
}

/** Runs tests of behavior, each in a new embedded cluster. */
export function playEmbedded(behaviors: Record<string, Behavior>, options: VirtualStageOptions = {}): void {
  for (const [name, behave] of Object.entries(behaviors)) {
    test(name, async () => {
      const stage = await virtualStage(options);
      try {
        await behave(stage);
      } finally {
        await during(stage.clock, stage.cluster.stop());
      }
    });
  }
}

/** A test environment in any cluster that runs in real time. */
export function realTimeStage(client: Client, namespace: string, measures: Measures = new Map()): Stage {
  return {
    client,
    namespace,
    measures,
    quiet: () => sleep(client.clock, 1_500),
    async until(what, holds) {
      const end = client.clock.monotonic() + REAL_PATIENCE;
      while (!(await holds())) {
        if (client.clock.monotonic() > end) assert.fail(`it never came true that ${what}`);
        await sleep(client.clock, 100);
      }
    },
  };
}

/** Runs tests of behavior on a real control plane, each in a separate namespace. */
export async function playReal(
  cluster: Awaited<ReturnType<typeof startRealCluster>>,
  behaviors: Record<string, Behavior>,
  measures: Measures = new Map(),
): Promise<{ name: string; error?: unknown }[]> {
  const client = await connect({ kubeconfig: cluster.kubeconfig });
  const play = async ([name, behave]: [string, Behavior], i: number) => {
    const namespace = `stage-${i}`;
    await client.create(Namespace, { metadata: { name: namespace } });
    const stage = realTimeStage(client, namespace, measures);
    try {
      // Pods are refused until their namespace has its account.
      await stage.until("the namespace has its account", () =>
        client.get(ServiceAccount, `${namespace}/default`).then(
          () => true,
          () => false,
        ),
      );
      await behave(stage);
      return { name };
    } catch (error) {
      return { name, error };
    }
  };
  try {
    return await Promise.all(Object.entries(behaviors).map(play));
  } finally {
    await client.close();
  }
}
