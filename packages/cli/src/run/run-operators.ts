import type { ConnectionConfig } from "@konverge/client";
import { type Clock, realClock } from "@konverge/core";
import {
  hotReload,
  type LogLevel,
  Metrics,
  type Operator,
  type ProcessLog,
  processLog,
  ReconcileRecorder,
} from "@konverge/runtime";
import { connectToCluster } from "../cluster-connection.ts";
import { install } from "../deploy/install.ts";
import { UsageError } from "../usage-error.ts";
import type { Address } from "./address.ts";
import { chosenOperators, loadOperators, operatorFile, operatorsOf } from "./operator-modules.ts";
import { type OperatorProcess, startOperators, type WebhookPlace } from "./operator-process.ts";
import { checkFlags, openArguments } from "./settings.ts";

/** The options of `konverge run`. */
export interface RunOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly operators?: string;
  readonly leaderElect?: boolean;
  readonly verbose?: boolean;
  readonly install?: boolean;
  readonly watch?: boolean;
  readonly metricsBindAddress?: Address;
  readonly healthProbeBindAddress?: Address;
  readonly webhooks: "auto" | "on" | "off";
  readonly webhookHost?: string;
  readonly webhookPort: number;
  /** Where reconciles are recorded. */
  readonly record?: string;
}

/** What `konverge run` has around it: a process of its own, or a container that it plays in another one. */
export interface RunWorld {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Stop when it fires. */
  readonly stop: AbortSignal;
  readonly clock?: Clock;
  /** Takes the log, in lines. Default: standard output. */
  readonly write?: (text: string) => void;
  /** How the cluster is reached, where the options and the environment do not say. */
  readonly config?: ConnectionConfig;
  /** It plays a container: listens on free ports of this machine, and tells which stands for which. */
  readonly expose?: (port: number, localPort: number) => void;
  /** The operators there are, where no module is named. Default: those of the project, or Konverge's own. */
  readonly operators?: () => Promise<readonly Operator[]>;
  /** Called when all operators are at work. */
  readonly ready?: (process: OperatorProcess) => void;
}

/** Runs operators until it is told to stop. */
export async function runOperators(words: readonly string[], options: RunOptions, world: RunWorld): Promise<void> {
  const { env, clock = realClock() } = world;
  const { modules, flags: given } = openArguments(words);
  const log = logOf(options, world, clock);
  const start = (known: readonly Operator[]) => {
    const operators = chosenOperators(known, options.operators ?? env["OPERATORS"]);
    if (operators.length === 0) throw new UsageError("no operator is left to run: --operators names all, or some");
    return startVersion(operators, { options, world, flags: checkFlags(operators, given), log, clock });
  };
  if (options.watch) {
    await using _reloaded = await hotReload<Record<string, unknown>>({
      module: operatorFile(modules),
      log,
      clock,
      start: (module) => start(operatorsOf(module)),
    });
    await told(world.stop);
    return;
  }
  const known = modules.length === 0 && world.operators ? await world.operators() : await loadOperators(modules);
  await using version = await start(known);
  await Promise.race([told(world.stop), version.process.done]);
}

/** Operators at work, with their connection. */
interface Version extends AsyncDisposable {
  readonly process: OperatorProcess;
}

async function startVersion(
  operators: readonly Operator[],
  { options, world, flags, log, clock }: Started,
): Promise<Version> {
  const { env } = world;
  const names = operators.map(({ name }) => name).join(", ");
  const metrics = new Metrics({ clock, process: world.expose === undefined });
  const isInside = world.config !== undefined || (!options.kubeconfig && inPod(env));
  const client = await connectToCluster(options, {
    clock,
    env,
    userAgent: `konverge/${operators.length === 1 ? operators[0]!.name : "operators"}`,
    around: metrics.transport(),
    ...(world.config && { config: world.config }),
  });
  const recorder = options.record === undefined ? undefined : recorderOf(options.record, log);
  try {
    const tell = (text: string) => log.info({}, text);
    const webhooks = webhookPlace(options, isInside, world);
    if (options.install) {
      const converted = webhooks !== undefined && { converted: true };
      await install(operators, client, { namespace: client.namespace, tell, ...converted });
    }
    const process = await startOperators({
      operators,
      client,
      metrics,
      log,
      flags,
      env,
      leaderElect: options.leaderElect ?? false,
      ...(options.namespace && { namespaces: options.namespace.split(",").map((one) => one.trim()) }),
      ...withDefined("metricsAddress", local(options.metricsBindAddress, world)),
      ...withDefined("probeAddress", local(options.healthProbeBindAddress, world)),
      ...withDefined("webhooks", webhooks),
      ...(env["POD_NAME"] && { identity: env["POD_NAME"] }),
      ...(recorder && { observers: [recorder] }),
    });
    for (const [port, localPort] of process.ports) world.expose?.(port, localPort);
    const { standby } = process.manager;
    log.info({ operators: names, namespace: client.namespace }, standby ? "waits for its lease" : "at work");
    world.ready?.(process);
    return {
      process,
      async [Symbol.asyncDispose]() {
        log.info({ operators: names }, "stops: work in progress is finished first");
        await process.stop();
        recorder?.close();
        await client.close();
        log.info({ operators: names }, "stopped");
      },
    };
  } catch (error) {
    recorder?.close();
    await client.close();
    throw error;
  }
}

function recorderOf(file: string, log: ProcessLog): ReconcileRecorder {
  try {
    return new ReconcileRecorder({ file, onError: (error) => log.error({ err: error }, error.message) });
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}

/** What all versions of operators are started with. */
interface Started {
  readonly options: RunOptions;
  readonly world: RunWorld;
  readonly flags: ReadonlyMap<string, string>;
  readonly log: ProcessLog;
  readonly clock: Clock;
}

/** Resolves when the signal has fired. */
function told(stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stop.aborted) resolve();
    stop.addEventListener("abort", () => resolve(), { once: true });
  });
}

function logOf({ verbose }: RunOptions, { env, write }: RunWorld, clock: Clock): ProcessLog {
  try {
    return processLog({
      clock,
      env,
      ...(verbose && { level: "debug" as LogLevel }),
      ...(write && { destination: { write } }),
    });
  } catch (error) {
    throw new UsageError(`LOG_LEVEL: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/**
 * A container that is played takes any free port, since its neighbours have the same numbers; one that is a process of a
 * shared machine is told which.
 */
function local(address: Address | undefined, { expose, env }: RunWorld): Address | undefined {
  if (!address) return undefined;
  if (expose) return { host: "127.0.0.1", port: 0, named: address.port };
  const given = env[`KONVERGE_PORT_${address.port}`];
  return given ? { ...address, port: Number(given) } : address;
}

function webhookPlace(
  { webhooks, webhookHost, webhookPort }: RunOptions,
  isInside: boolean,
  { expose, env }: RunWorld,
): WebhookPlace | undefined {
  if (webhooks === "off" || (webhooks === "auto" && !isInside && !webhookHost)) return undefined;
  if (!isInside) return { by: "url", host: webhookHost ?? "127.0.0.1", port: webhookPort };
  const given = Number(env[`KONVERGE_PORT_${webhookPort}`] ?? webhookPort);
  return expose ? { by: "service", host: "127.0.0.1", port: 0 } : { by: "service", port: given };
}

/** A container that is a process of a shared machine has a kubeconfig besides its identity: see `childProgram`. */
function inPod(env: RunWorld["env"]): boolean {
  if (!env["KUBERNETES_SERVICE_HOST"] || !env["KUBERNETES_SERVICE_PORT"]) return false;
  return !env["KUBECONFIG"] || Boolean(env["KONVERGE_SERVICE_ACCOUNT"]);
}

function withDefined<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
}
