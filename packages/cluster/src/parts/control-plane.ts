import { type ApiServer, type Authority, createAuthority, type User } from "@konverge/apiserver";
import { Client } from "@konverge/client";
import { type Clock, groupKindText, realClock, type Transport } from "@konverge/core";
import { Cache, type Log, silentLog } from "@konverge/runtime";
import { NodePulse } from "./node-pulse.ts";
import type { ComponentContext, ControlPlaneComponent, LocalVolumes, RunningComponent } from "./part.ts";
import { type ServedKind, ServedKinds } from "./served-kinds.ts";

export interface ControlPlaneOptions {
  server: ApiServer;
  clock: Clock;
  parts: readonly ControlPlaneComponent[];
  /** How parts reach the cluster in their own names. Default: the server alone, without what nodes answer (metrics). */
  as?: (user: User) => Transport;
  /** The server has just been made, from nothing: see {@link ServedKinds}. */
  fresh?: boolean;
  /** See {@link ComponentContext.pulse}. Default: none is known to be. */
  pulse?: NodePulse;
  /** See {@link ComponentContext.rootCertificate}. */
  rootCertificate?: string;
  /** See {@link ComponentContext.authority}. Default: one of the control plane's own, which no server knows. */
  authority?: () => Authority;
  /** See {@link ComponentContext.localVolumes}. */
  localVolumes?: LocalVolumes;
  log?: Log;
}

/** The user of the cache that all components share. */
const READER = "system:kube-controller-manager";
const MASTERS = ["system:authenticated", "system:masters"];
/** Kinds whose objects can be large and are rarely read: all others are kept parsed, which controllers do read often. */
const PACKED = new Set(["/configmaps", "/secrets"]);

/** Starts each part with the first object it cares for, and stops them all together. */
export class ControlPlane {
  readonly kinds: ServedKinds;
  readonly #options: ControlPlaneOptions;
  readonly #log: Log;
  readonly #started = new Map<string, Promise<RunningComponent | undefined>>();
  readonly #cache: Cache;
  readonly #prepared: Promise<void>[] = [];
  #stopped = false;

  constructor(options: ControlPlaneOptions) {
    const { server, clock, parts, log = silentLog, pulse } = options;
    this.#options = options;
    if (pulse) pulse.isFollowed = () => [...server.activity.watches].some(isOfLeases);
    this.#log = log;
    const reader = steady(server.as({ name: READER, groups: MASTERS }));
    this.#cache = new Cache(new Client(reader, { clock }), {
      watch: { listing: "pages", inactivity: Number.POSITIVE_INFINITY },
      parsed: ({ group, plural }) => !PACKED.has(`${group}/${plural}`),
      onError: (kind, error) => log.warn({ err: error }, `the watch of ${groupKindText(kind)} failed`),
    });
    this.#cache.start();
    this.kinds = new ServedKinds(server, clock, { fresh: options.fresh ?? false });
    for (const part of parts) if (part.startsWith === "cluster") this.#start(part);
    this.kinds.onPopulated((kind) => {
      for (const part of parts) if (caresFor(part, kind)) this.#start(part);
    });
  }

  /** The names of the parts at work, in the order in which they started. */
  get running(): string[] {
    return [...this.#started.keys()];
  }

  /** Resolves when what every user counts on is there: the default namespace has its account and certificate. */
  async prepared(): Promise<void> {
    await Promise.all(this.#prepared);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.kinds.close();
    const running = await Promise.all(this.#started.values());
    await Promise.all(running.map((part) => part?.stop()));
    this.#cache.stop();
  }

  #start(part: ControlPlaneComponent): void {
    if (this.#stopped || this.#started.has(part.name)) return;
    const { server, clock, rootCertificate = "", pulse = new NodePulse() } = this.#options;
    const user = `system:serviceaccount:kube-system:${part.user ?? part.name}`;
    const groups = ["system:serviceaccounts", "system:serviceaccounts:kube-system"];
    // Its default role would do for the real controller; this one may read a little more.
    const identity = { name: user, groups: [...groups, ...MASTERS] };
    const transport = this.#options.as?.(identity) ?? server.as(identity);
    const client = new Client(ownedBy(transport, part.fieldManager ?? "kube-controller-manager"), { clock });
    const log = this.#log.child({ part: part.name });
    const cache = this.#cache.branch();
    const { authority = ownAuthority, localVolumes } = this.#options;
    const context: ComponentContext = {
      client,
      cache,
      clock,
      kinds: this.kinds,
      pulse,
      rootCertificate,
      authority,
      secretToken: (secret) => server.access.serviceAccounts.issueLegacy(secret),
      ...(localVolumes && { localVolumes }),
      log,
    };
    const prepared = this.#prepare(part, context);
    const starting = (prepared ? prepared.then(() => part.start(context)) : part.start(context)).then(
      (running) => ({
        async stop() {
          await running.stop();
          cache.stop();
        },
      }),
      (error: unknown) => {
        if (!this.#stopped) log.error({ err: error }, `${part.name} could not be started`);
        return undefined;
      },
    );
    this.#started.set(part.name, starting);
  }

  #prepare(part: ControlPlaneComponent, context: ComponentContext): Promise<void> | undefined {
    const prepared = part.prepare?.(context).catch((error: unknown) => {
      if (!this.#stopped) context.log.warn({ err: error }, `${part.name} could not be prepared`);
    });
    if (prepared) this.#prepared.push(prepared);
    return prepared;
  }
}

const ownAuthority = (): Authority => createAuthority(realClock());

/** Another client watches the Leases of nodes. */
function isOfLeases({ user, path }: { user: string; path: string }): boolean {
  return user !== READER && /\/coordination\.k8s\.io\/[^/]+\/(namespaces\/kube-node-lease\/)?leases$/.test(path);
}

function caresFor({ startsWith }: ControlPlaneComponent, kind: ServedKind): boolean {
  if (startsWith === "cluster") return false;
  return startsWith.some(({ group, plural }) => group === kind.group && plural === kind.plural);
}

/**
 * Watches that never time out, since they cross no network that could fail: they need no bookmarks as keep-alives and
 * no restart.
 */
function steady(transport: Transport): Transport {
  return (request) =>
    transport({
      ...request,
      path: request.path
        .replace(/([?&])allowWatchBookmarks=true/, "$1")
        .replace(/([?&]timeoutSeconds=)[0-9]+/, "$1999999999"),
    });
}

/** All controllers of kube-controller-manager share one field manager, whatever their names are. */
function ownedBy(transport: Transport, fieldManager: string): Transport {
  const named = `${FIELD_MANAGER}${fieldManager}`;
  return (request) => {
    const { path } = request;
    const start = path.indexOf(FIELD_MANAGER, path.indexOf("?"));
    if (start < 0) return transport(request);
    const end = path.indexOf("&", start);
    return transport({ ...request, path: path.slice(0, start) + named + (end < 0 ? "" : path.slice(end)) });
  };
}

const FIELD_MANAGER = "fieldManager=";
