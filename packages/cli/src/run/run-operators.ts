import { type Client, type ConnectionConfig, type ConnectOptions, connect, loadConfig } from "@konverge/client";
import { type Clock, realClock, sleep, type Transport } from "@konverge/core";
import {
  hotReload,
  type LogLevel,
  Metrics,
  type Operator,
  type Permission,
  type ProcessLog,
  processLog,
  ReconcileRecorder,
} from "@konverge/runtime";
import { connectToCluster } from "../cluster-connection.ts";
import { install } from "../deploy/install.ts";
import type { Address } from "../operators/address.ts";
import { chosenOperators, loadOperators, operatorFile, operatorsOf } from "../operators/operator-modules.ts";
import { type OperatorProcess, startOperators, type WebhookPlace } from "../operators/operator-process.ts";
import { checkFlags, type OpenArguments, openArguments } from "../operators/settings.ts";
import { UsageError } from "../usage-error.ts";
import { DryRunReport } from "./dry-run-report.ts";
import { actsUnderGeneratedRole, generatedRoleToken, type PermissionsOf } from "./generated-role.ts";
import { isOwn, registeredByRuns, removeRegistrations, reportAbandoned } from "./run-registrations.ts";
import { unservedVersions } from "./unserved-versions.ts";

/** The options of `konverge run` that say nothing about the machine it runs on: pods can set these. */
export interface PodRunOptions {
  readonly namespace?: string;
  readonly namespaced?: string;
  readonly operators?: string;
  readonly leaderElect?: boolean;
  readonly logLevel?: LogLevel;
  readonly metricsBindAddress?: Address;
  readonly healthProbeBindAddress?: Address;
  readonly webhooks: "auto" | "on" | "off";
  readonly webhookPort: number;
}

/** The options of `konverge run`. */
export interface RunOptions extends PodRunOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly install?: boolean;
  readonly watch?: boolean;
  readonly webhookHost?: string;
  /** The folder of the webhooks' certificates. They are not registered: another tool sets their CA. */
  readonly webhookCertificates?: string;
  /** Where reconciles are recorded. */
  readonly record?: string;
  /** Whose permissions the operators have. Default: `auto`. */
  readonly permissions?: PermissionsOf;
  /** Print every write, and make none. */
  readonly dryRun?: boolean;
  /** How writes of a dry run are printed. */
  readonly output?: "text" | "json";
}

/** What `konverge run` has around it: a machine, or a container of an embedded cluster. */
export interface RunWorld {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Stop when it fires. */
  readonly stop: AbortSignal;
  readonly clock?: Clock;
  /** Takes the log, in lines of JSON. Default: standard error, readable if it is a terminal. */
  readonly write?: (text: string) => void;
  /** How the cluster is reached, where the options and the environment do not say. */
  readonly config?: ConnectionConfig;
  /** It is a container of an embedded cluster: it listens on free ports of the machine and reports which stands for which. */
  readonly expose?: (port: number, localPort: number) => void;
  /** Takes the lines that are the result of a dry run. Default: standard output. */
  readonly print?: (line: string) => void;
  /** Called when all operators are at work. */
  readonly ready?: (process: OperatorProcess) => void;
}

/** Runs operators until the signal to stop. */
export async function runOperators(words: readonly string[], options: RunOptions, world: RunWorld): Promise<void> {
  const { modules, flags } = openArguments(words);
  if (options.dryRun) checkDryRun(options);
  const { clock = realClock() } = world;
  const log = logOf(options, world, clock);
  await using _registered = developmentRegistration(options, world, log);
  if (!options.watch) return await runKnown(await loadOperators(modules), flags, options, world);
  await using _reloaded = await hotReload<Record<string, unknown>>({
    module: operatorFile(modules),
    log,
    clock,
    start: (module) => startChosen(operatorsOf(module), { options, world, flags, log, clock }),
  });
  await told(world.stop);
}

/**
 * Removes at the end of a run what it has registered by URL, when the last of its versions has stopped: the API server would
 * ask a process that is no longer there, and refuse every write.
 */
function developmentRegistration(options: RunOptions, world: RunWorld, log: ProcessLog): AsyncDisposable {
  const isInside = world.config !== undefined || (!options.kubeconfig && inPod(world.env));
  const place = webhookPlace(options, isInside, world);
  return {
    async [Symbol.asyncDispose]() {
      if (place?.by !== "url") return;
      try {
        await using client = await connectToCluster(options, { env: world.env });
        const own = (await registeredByRuns(client)).filter(isOwn);
        await removeRegistrations(own, client, { tell: (text) => log.info({}, text) });
      } catch (error) {
        log.warn(
          { err: error },
          "its webhooks are still registered, so writes fail: remove them with `npx konverge cleanup`",
        );
      }
    },
  };
}

/** Runs those of some operators that the options choose, until it is to stop. */
export async function runKnown(
  known: readonly Operator[],
  flags: OpenArguments["flags"],
  options: RunOptions,
  world: RunWorld,
): Promise<void> {
  const { clock = realClock() } = world;
  const log = logOf(options, world, clock);
  await using version = await startChosen(known, { options, world, flags, log, clock });
  const { process } = version;
  await Promise.race([told(world.stop), process.done, ...(options.dryRun ? [idle(process, clock, world.stop)] : [])]);
}

/** Options that make no sense where nothing is written. */
function checkDryRun({ install: installs, watch, leaderElect }: RunOptions): void {
  const other = Object.entries({ "--install": installs, "--watch": watch, "--leader-elect": leaderElect }).find(
    ([, isSet]) => isSet,
  );
  if (!other) return;
  const why = other[0] === "--install" ? ": install the kinds first, with `npx konverge install`" : "";
  throw new UsageError(`--dry-run writes nothing, so it cannot be combined with ${other[0]}${why}`);
}

/** Resolves when every object has been reconciled, but for those that fail and are tried again. */
async function idle({ manager }: OperatorProcess, clock: Clock, stop: AbortSignal): Promise<void> {
  const isIdle = () =>
    manager.working && [...manager.controllers()].every(({ depth, working }) => depth + working === 0);
  for (let quiet = 0; quiet < IDLE_CHECKS; quiet = isIdle() ? quiet + 1 : 0) {
    await sleep(clock, IDLE_PERIOD, { signal: stop }).catch(() => {});
    if (stop.aborted) return;
  }
}

/** A dry run ends when the controllers have been idle that many times in a row, that many milliseconds apart. */
const IDLE_CHECKS = 10;
const IDLE_PERIOD = 100;

async function startChosen(known: readonly Operator[], started: Started): Promise<Version> {
  const operators = chosenOperators(known, started.options.operators ?? started.world.env["OPERATORS"]);
  if (operators.length === 0)
    throw new UsageError("no operator to run: set --operators to all, or to a comma-separated list of names");
  return startVersion(operators, checkFlags(operators, started.flags), started);
}

/** Operators at work, with their connection. */
interface Version extends AsyncDisposable {
  readonly process: OperatorProcess;
}

async function startVersion(
  operators: readonly Operator[],
  flags: ReadonlyMap<string, string>,
  { options, world, log, clock }: Started,
): Promise<Version> {
  const { env } = world;
  const names = operators.map(({ name }) => name).join(", ");
  const metrics = new Metrics({ clock });
  const rehearsal = options.dryRun ? new DryRunReport(options.output ?? "text", world.print) : undefined;
  const isInside = world.config !== undefined || (!options.kubeconfig && inPod(env));
  const connection = {
    clock,
    env,
    userAgent: `konverge/${operators.length === 1 ? operators[0]!.name : "operators"}`,
    around: (transport: Transport) => metrics.transport()(rehearsal?.transport(transport) ?? transport),
    dryRun: options.dryRun ?? false,
  };
  const client = await connectToCluster(options, { ...connection, ...(world.config && { config: world.config }) });
  const recorder = options.record === undefined ? undefined : recorderOf(options.record, log);
  try {
    const tell = (text: string) => log.info({}, text);
    const webhooks = options.dryRun ? undefined : webhookPlace(options, isInside, world);
    if (!isInside) {
      const replaced = webhooks ? operators.map(({ name }) => name) : [];
      await reportAbandoned(client, (text) => log.warn({}, text), replaced);
    }
    if (options.install) {
      const converted = webhooks !== undefined && { converted: true };
      await install(operators, client, { namespace: client.namespace, tell, settings: { flags, env }, ...converted });
    } else if (webhooks) {
      for (const text of await unservedVersions(operators, client)) log.warn({}, text);
    }
    const { permissions = "auto" } = options;
    const isLimited = !isInside && !options.dryRun && (await actsUnderGeneratedRole(client, permissions));
    const process = await startOperators({
      operators,
      client,
      ...(isLimited && { connectAs: (one, needed) => connectAs(one, needed, { client, options, connection }) }),
      metrics,
      log,
      flags,
      env,
      leaderElect: options.leaderElect ?? false,
      ...placeOf(options),
      ...withDefined("metricsAddress", local(options.metricsBindAddress, world)),
      ...withDefined("probeAddress", local(options.healthProbeBindAddress, world)),
      ...withDefined("webhooks", webhooks),
      ...(env["POD_NAME"] && { identity: env["POD_NAME"] }),
      ...(recorder && { observers: [recorder] }),
    });
    for (const [port, localPort] of process.ports) world.expose?.(port, localPort);
    const { standby } = process.manager;
    log.info({ operators: names, namespace: client.namespace }, standby ? "waiting for its lease" : "at work");
    world.ready?.(process);
    return {
      process,
      async [Symbol.asyncDispose]() {
        log.info({ operators: names }, "stopping: waiting for reconciles in progress");
        await process.stop();
        rehearsal?.end();
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

/** Connects to the same server as an account that has exactly these permissions. */
async function connectAs(
  operator: Operator,
  permissions: readonly Permission[],
  { client, options, connection }: { client: Client; options: RunOptions; connection: ConnectOptions },
): Promise<Client> {
  const token = await generatedRoleToken(operator, permissions, client);
  const {
    cert: _,
    key: __,
    impersonate: ___,
    ...server
  } = await loadConfig({
    ...withDefined("kubeconfig", options.kubeconfig),
    ...withDefined("context", options.context),
    ...withDefined("env", connection.env),
  });
  const config = { ...server, credentials: { token: { value: token } } };
  return connect({ ...connection, userAgent: `konverge/${operator.name}`, config, namespace: client.namespace });
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
  /** Settings that were given as flags, and are not checked yet. */
  readonly flags: OpenArguments["flags"];
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

function logOf({ logLevel }: RunOptions, { env, write }: RunWorld, clock: Clock): ProcessLog {
  try {
    return processLog({
      clock,
      env,
      ...(logLevel && { level: logLevel }),
      ...(write && { destination: { write } }),
    });
  } catch (error) {
    throw new UsageError(`LOG_LEVEL: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/**
 * A container of an embedded cluster takes any free port, since its neighbors have the same numbers; one that was started
 * by a command of that machine (`--program`) gets the port from its environment.
 */
function local(address: Address | undefined, { expose, env }: RunWorld): Address | undefined {
  if (!address) return undefined;
  if (expose) return { host: "127.0.0.1", port: 0, named: address.port };
  const given = env[`KONVERGE_PORT_${address.port}`];
  return given ? { ...address, port: Number(given) } : address;
}

function webhookPlace(
  { webhooks, webhookHost, webhookPort, webhookCertificates }: RunOptions,
  isInside: boolean,
  { expose, env }: RunWorld,
): WebhookPlace | undefined {
  if (webhooks === "off" || (webhooks === "auto" && !isInside && !webhookHost && !webhookCertificates))
    return undefined;
  if (webhookCertificates) {
    return {
      by: "service",
      port: webhookPort,
      certificates: webhookCertificates,
      ...(webhookHost && { host: webhookHost }),
    };
  }
  if (!isInside) return { by: "url", host: webhookHost ?? "127.0.0.1", port: webhookPort };
  const given = Number(env[`KONVERGE_PORT_${webhookPort}`] ?? webhookPort);
  return expose ? { by: "service", host: "127.0.0.1", port: 0 } : { by: "service", port: given };
}

/** A container that is a process of a shared machine has a kubeconfig besides its identity: see `childProgram`. */
function inPod(env: RunWorld["env"]): boolean {
  if (!env["KUBERNETES_SERVICE_HOST"] || !env["KUBERNETES_SERVICE_PORT"]) return false;
  return !env["KUBECONFIG"] || Boolean(env["KONVERGE_SERVICE_ACCOUNT"]);
}

/** The namespaces that are watched, and whether permissions are limited to them. */
function placeOf({ namespace, namespaced }: PodRunOptions): { namespaces?: readonly string[]; namespaced?: boolean } {
  if (namespace && namespaced)
    throw new UsageError("--namespace and --namespaced both name namespaces to watch: give one of them");
  const names = (namespaced ?? namespace)?.split(",").map((one) => one.trim());
  return { ...(names && { namespaces: names }), ...(namespaced !== undefined && { namespaced: true }) };
}

function withDefined<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
}
