import { join } from "node:path";
import type { Client } from "@konverge/client";
import { isNotFound, realClock } from "@konverge/core";
import {
  builtInCertificates,
  type CertificateSource,
  certificateFiles,
  checkPermissions,
  type HttpServer,
  hasWebhooks,
  httpEndpoints,
  Manager,
  type ManagerState,
  type Metrics,
  MissingWebhookConfigurationError,
  type Observer,
  type Operator,
  type OperatorParts,
  operatorPermissions,
  operatorWebhookPermissions,
  type Permission,
  type ProcessLog,
  reportProcessProblems,
  serveHttp,
  serveWebhooks,
  type WebhookRegistrationMode,
  type WebhookServer,
  Webhooks,
} from "@konverge/runtime";
import { listening } from "../listening.ts";
import { UsageError } from "../usage-error.ts";
import type { Address } from "./address.ts";
import { listeningHost } from "./listening-host.ts";
import { createParts } from "./operator-parts.ts";
import { runAnnotations } from "./run-mark.ts";
import { changedSettings, settingsOf } from "./settings.ts";
import { together } from "./together.ts";

/** Where the API server reaches the webhooks of this process: through the operators' Services, or at an address. */
export type WebhookPlace =
  | {
      readonly by: "service";
      readonly port: number;
      readonly host?: string;
      /** A folder with `tls.crt` and `tls.key`, of a tool that also sets the CA of the registrations. Default: built-in certificates. */
      readonly certificates?: string;
    }
  | { readonly by: "url"; readonly host: string; readonly port: number };

/** What a process with operators is started with. */
export interface OperatorProcessOptions {
  readonly operators: readonly Operator[];
  readonly client: Client;
  readonly metrics: Metrics;
  readonly log: ProcessLog;
  /** Settings that were given as flags. */
  readonly flags?: ReadonlyMap<string, string>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Only these namespaces. Default: all. */
  readonly namespaces?: readonly string[];
  /** Permissions are Roles in these namespaces: cluster-scoped kinds are not read. Default: false. */
  readonly namespaced?: boolean;
  /** Let one of several replicas act at a time; the leases are in the client's namespace. */
  readonly leaderElect?: boolean;
  /** Where metrics are served. Default: nowhere. */
  readonly metricsAddress?: Address;
  /** Where probes are answered. Default: nowhere. */
  readonly probeAddress?: Address;
  /** Default: webhooks are neither served nor registered. */
  readonly webhooks?: WebhookPlace;
  /** Do not ask first whether all that is needed is allowed. */
  readonly skipPreflight?: boolean;
  /** A client for an operator that has exactly these permissions. Default: `client`, after a check that it has them. */
  readonly connectAs?: (operator: Operator, permissions: readonly Permission[]) => Promise<Client>;
  readonly observers?: readonly Observer[];
  /** The name of this process in leases. Default: generated. */
  readonly identity?: string;
}

/** Operators at work in this process. */
export interface OperatorProcess {
  /** The ports that are really listened on, by the ones that were asked for. */
  readonly ports: ReadonlyMap<number, number>;
  readonly manager: ManagerState;
  /** Settles when one of the managers has ended: rejects when it could not work. */
  readonly done: Promise<void>;
  /** Starts no more work, finishes what is in progress, and releases leases and ports. */
  stop(): Promise<void>;
}

interface Made {
  readonly operator: Operator;
  readonly parts: OperatorParts;
  /** Has the operator's permissions. */
  readonly client: Client;
}

/**
 * Starts operators in this process, each with a separate manager: its lease, its permissions and its failures are its own.
 *
 * Flow: the kinds must be installed and the permissions granted; then the webhooks are served, so that nothing is written which they
 * would have refused; then the controllers start. Stopping goes the other way round.
 */
export async function startOperators(options: OperatorProcessOptions): Promise<OperatorProcess> {
  const { operators, client, metrics, log, leaderElect = false, namespaces, namespaced = false } = options;
  const created = operators.map((operator) => ({ operator, parts: create(operator, options) }));
  await checkKinds(client, operators);
  const closers: (() => Promise<void>)[] = [];
  const ports = new Map<number, number>();
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const made: Made[] = [];
    for (const one of created) made.push({ ...one, client: await permitted(one, options, closers) });
    const managers = made.map(
      ({ operator, parts, client: own }) =>
        new Manager(parts.controllers, {
          client: own,
          log: log.child({ operator: operator.name }),
          observers: [metrics, ...(options.observers ?? [])],
          ...(namespaces && { namespaces }),
          namespaced,
          ...(leaderElect && { leaderElection: { name: operator.name } }),
          ...(options.identity && { identity: options.identity }),
        }),
    );
    const manager = together(managers, client.clock);
    const end = reportProcessProblems(log);
    closers.push(async () => end());
    for (const serving of await serveStatus(manager, options, ports)) closers.push(() => serving.close());
    for (const hooks of await serveAllWebhooks(made, options, ports)) closers.push(() => hooks.close());
    for (const one of managers) closers.push(() => one.stop());
    await Promise.all(managers.map((one) => one.start()));
    return { ports, manager, done: Promise.race(managers.map((one) => one.done)), stop: close };
  } catch (error) {
    await close();
    throw error;
  }
}

function create(operator: Operator, { metrics, log, flags = new Map(), env = {} }: OperatorProcessOptions) {
  return createParts(operator, {
    metrics: metrics.registry,
    settings: settingsOf(operator, { flags, env }),
    log: log.child({ operator: operator.name }),
  });
}

/** Discovery is open to everyone, so this needs no permissions. */
async function checkKinds(client: Client, operators: readonly Operator[]): Promise<void> {
  const missing: string[] = [];
  for (const { kinds } of operators) {
    for (const { group, version, kind, plural } of kinds) {
      const text = await client
        .request({ method: "GET", path: `/apis/${group}/${version}` })
        .catch((error: unknown) => {
          if (isNotFound(error)) return '{"resources":[]}';
          throw error;
        });
      const { resources } = JSON.parse(text) as { resources: { name: string }[] };
      if (!resources.some(({ name }) => name === plural)) missing.push(`${kind} (${plural}.${group})`);
    }
  }
  if (missing.length === 0) return;
  throw new UsageError(
    `the cluster does not know these kinds: ${missing.join(", ")}\nInstall them with: konverge install`,
  );
}

/** The client of an operator: one with exactly the permissions that it needs, or the user's, if these include them. */
async function permitted(
  { operator, parts }: Omit<Made, "client">,
  options: OperatorProcessOptions,
  closers: (() => Promise<void>)[],
): Promise<Client> {
  const { client, connectAs, skipPreflight } = options;
  const needed = neededPermissions(operator, parts, options);
  if (connectAs) {
    const own = await connectAs(operator, needed);
    closers.push(() => own.close());
    return own;
  }
  if (!skipPreflight) await checkPermissionsOf(operator, needed, options);
  return client;
}

function neededPermissions(operator: Operator, parts: OperatorParts, options: OperatorProcessOptions): Permission[] {
  const { client, namespaces, namespaced = false, leaderElect = false, webhooks } = options;
  const home = client.namespace;
  const lease = leaderElect ? { leaderElection: { name: operator.name, namespace: home } } : {};
  const forWebhooks = new Set(operatorWebhookPermissions(operator, parts, home).map((one) => JSON.stringify(one)));
  return operatorPermissions(operator, parts, {
    operatorNamespace: home,
    ...(webhooks && { webhookRegistration: registrationOf(webhooks) }),
    ...lease,
    ...(namespaces && { namespaces }),
    namespaced,
  }).filter((one) => webhooks !== undefined || !forWebhooks.has(JSON.stringify(one)));
}

async function checkPermissionsOf(operator: Operator, needed: readonly Permission[], options: OperatorProcessOptions) {
  const given = changedSettings(operator, { flags: options.flags ?? new Map(), env: options.env ?? {} });
  await checkPermissions(options.client, needed).catch((error: unknown) => {
    if (!(error instanceof Error) || error.name !== "MissingPermissionError") throw error;
    throw new UsageError(
      `${operator.name}: ${error.message}\nGive it the roles that "konverge manifests${given}" writes, or deploy it with the same settings: konverge deploy${given}`,
      { cause: error },
    );
  });
}

async function serveStatus(manager: ManagerState, options: OperatorProcessOptions, ports: Map<number, number>) {
  const { metrics, log, metricsAddress, probeAddress } = options;
  const handler = httpEndpoints({ manager, metrics, log });
  const servings: HttpServer[] = [];
  const known = new Set<string>();
  for (const address of [metricsAddress, probeAddress]) {
    if (!address || known.has(JSON.stringify(address))) continue;
    if (address.port !== 0) known.add(JSON.stringify(address));
    const serving = await listening(
      () => serveHttp(handler, { port: address.port, ...(address.host && { host: address.host }) }),
      address.port,
      "--metrics-bind-address and --health-probe-bind-address",
    );
    servings.push(serving);
    ports.set(address.named ?? address.port, serving.port);
  }
  return servings;
}

/** The configurations are installed with the operator; for a process outside the cluster nobody has installed any. */
function registrationOf(place: WebhookPlace): WebhookRegistrationMode {
  if (place.by === "url") return "create";
  return place.certificates === undefined ? "update" : "none";
}

/** Each operator's webhooks have a separate port, counted up from the given one. */
async function serveAllWebhooks(made: readonly Made[], options: OperatorProcessOptions, ports: Map<number, number>) {
  const { log, metrics, webhooks: place } = options;
  const asked = made.filter(({ parts }) => hasWebhooks(parts));
  const servings: WebhookServer[] = [];
  if (!place) {
    for (const { operator } of asked)
      log.warn(
        { operator: operator.name },
        "its webhooks are off: writes are not validated, versions are not converted",
      );
    return servings;
  }
  for (const [index, { operator, parts, client }] of asked.entries()) {
    const { admissions = [], conversions } = parts;
    const own = log.child({ operator: operator.name });
    const webhooks = new Webhooks({ admissions, conversions, log: own, observers: [metrics], clock: client.clock });
    const port = place.port === 0 ? 0 : place.port + index;
    const { name } = operator;
    const host = place.by === "service" ? place.host : listeningHost(place.host);
    const registration = registrationOf(place);
    const certificates = certificatesOf(name, place, client);
    const where =
      place.by === "service"
        ? { service: { name, namespace: client.namespace } }
        : {
            url: `https://${place.host.includes(":") ? `[${place.host}]` : place.host}:${port}`,
            annotations: runAnnotations({ name, namespace: client.namespace }),
          };
    const serving = await listening(
      () => {
        const listened = { port, ...(host && { host }) };
        return configured(
          serveWebhooks(webhooks, { client, name, log: own, certificates, registration, ...listened, ...where }),
        );
      },
      port,
      "--webhook-port",
    );
    servings.push(serving);
    ports.set(WEBHOOK_PORT + index, serving.port);
  }
  return servings;
}

function certificatesOf(name: string, place: WebhookPlace, client: Client): CertificateSource {
  if (place.by === "service" && place.certificates !== undefined) {
    return certificateFiles({ cert: join(place.certificates, "tls.crt"), key: join(place.certificates, "tls.key") });
  }
  const inner = `${name}.${client.namespace}`;
  return builtInCertificates(client, {
    hosts: place.by === "service" ? [`${inner}.svc`, `${inner}.svc.cluster.local`, inner] : [place.host],
    secret: { name: `${name}-certificates`, namespace: client.namespace },
    // TLS is judged in real time, however fast time passes in a cluster.
    clock: realClock(),
  });
}

/** The port that operators' pods show to their Services. */
export const WEBHOOK_PORT = 9443;

/** What must be installed before an operator is started reads as advice, not as a defect. */
async function configured<T>(serving: Promise<T>): Promise<T> {
  try {
    return await serving;
  } catch (error) {
    if (error instanceof MissingWebhookConfigurationError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}
