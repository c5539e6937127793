import { inClusterConfig } from "@konverge/client";
import { AdjustableClock, type Clock, realClock } from "@konverge/core";
import { operatorsOf } from "../operators/operator-modules.ts";
import { runKnown } from "../run/run-operators.ts";
import type { PodRequest } from "./pod-request.ts";

/** What a container of the image of operators is started with. */
export interface ContainerRequest extends PodRequest {
  /** The folder with its service account. */
  readonly account: string;
  readonly time: ClusterTime;
}

/** What time it is in a cluster, for another process of the same machine. */
export interface ClusterTime {
  /** What the machine's clock showed, in milliseconds, and what the cluster's did. */
  readonly machine: number;
  readonly cluster: number;
  /** How many times as fast as the machine's the cluster's time passes. */
  readonly scale: number;
}

/** A port of the pod, and the port of this machine that stands for it. */
export interface Listening {
  readonly port: number;
  readonly localPort: number;
}

/** Runs what a container of the image of operators was asked to, until it is to stop. */
export async function runContainer(
  { modules, operators, settings, env, options, account, time }: ContainerRequest,
  stop: AbortSignal,
  tell: (listening: Listening) => void,
): Promise<void> {
  const loaded = await Promise.all(modules.map((url) => import(url) as Promise<Record<string, unknown>>));
  const known = loaded.flatMap(operatorsOf).filter(({ name }) => operators.includes(name));
  await runKnown(known, new Map(Object.entries(settings)), options, {
    env,
    stop,
    clock: clockOf(time),
    write: (text) => void process.stdout.write(text),
    config: await inClusterConfig(env, account),
    expose: (port, localPort) => tell({ port, localPort }),
  });
}

function clockOf({ machine, cluster, scale }: ClusterTime): Clock {
  const clock = realClock();
  const started = clock.now();
  const ahead = cluster + (started - machine) * scale - started;
  return new AdjustableClock({ ...clock, now: () => clock.now() + ahead }, scale);
}
