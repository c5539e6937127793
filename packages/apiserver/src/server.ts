import { type ApiRequest, type ApiResponse, type Clock, realClock, type Transport, toFetch } from "@konverge/core";
import { kubernetesFacts } from "@konverge/kinds";
import { Activity } from "./activity.ts";
import type { Aggregation } from "./aggregation/aggregation.ts";
import type { AuditedRequest, AuditLog } from "./audit/audit-log.ts";
import { AccessControl, type AccessControlOptions } from "./auth/access-control.ts";
import { AUTHENTICATED, MASTERS, type User } from "./auth/user.ts";
import { registerBuiltins } from "./bootstrap/builtin-resources.ts";
import type { DefaultsKeeper } from "./bootstrap/keep-defaults.ts";
import type { AdvertisedAddress, OwnService } from "./bootstrap/own-service.ts";
import type { Call, Services } from "./call/call.ts";
import { CustomResources } from "./crd/custom-resources.ts";
import { ServerMetrics } from "./discovery/metrics.ts";
import type { Extensions } from "./extensions.ts";
import { FlowControl } from "./flow-control/flow-control.ts";
import { Guard, type Limiter } from "./guard.ts";
import { contentType } from "./http/bodies.ts";
import { errorForm, negotiate } from "./http/form.ts";
import { checkTimeout } from "./http/query.ts";
import { isLongRunning, type RequestInfo } from "./http/request-info.ts";
import { Warnings } from "./http/warnings.ts";
import { errorResponse } from "./representation/error-response.ts";
import { Registry } from "./resources/registry.ts";
import { Expiry } from "./storage/expiry.ts";
import type { Journal } from "./storage/journal.ts";
import { type Snapshot, Store, type StoreHistory } from "./storage/store.ts";
import { dispatch } from "./verbs/dispatch.ts";
import { APPLY_PATCH } from "./verbs/patch.ts";
import { checkPatchRoute, checkRoute, isInNamespace, noSuchPath, pageNotFound } from "./verbs/routes.ts";
import { noWebhooks } from "./webhook-call.ts";
import { type WiringOptions, wire } from "./wiring.ts";

export interface ApiServerOptions extends WiringOptions {
  clock?: Clock;
  /** The minor version of Kubernetes that is served, `1.33` to `1.37`: its kinds, fields, defaults and feature gates. Default: 1.36. */
  kubernetes?: string;
  /** Start from an earlier state. */
  state?: Snapshot;
  /** Where changes are kept beyond the process. */
  journal?: Journal;
  /** How far back one can watch from, and list. */
  history?: StoreHistory;
  /** Tokens and keys, for requests that come through {@link ApiServer.guard}. */
  access?: Omit<AccessControlOptions, "store" | "clock">;
  audit?: AuditLog;
  /** Milliseconds after its last write at which an Event goes. Default: an hour. */
  eventTtl?: number;
}

/** As kube-apiserver has it (--event-ttl). */
const EVENT_TTL = 3_600_000;

/** The user as whom {@link ApiServer.transport} acts. */
export const ADMINISTRATOR: User = { name: "kubernetes-admin", groups: [MASTERS, AUTHENTICATED] };

/**
 * The embedded API server. A request passes authentication, audit, impersonation and authorization ({@link Guard}), is
 * routed to a path handler or to the verbs, and its answer is put into the form that was asked for.
 */
export class ApiServer {
  readonly store: Store;
  readonly clock: Clock;
  readonly registry: Registry;
  readonly access: AccessControl;
  readonly metrics = new ServerMetrics();
  /** Who does what just now. */
  readonly activity = new Activity();
  /** Stands between a network and this server: what a listener serves. */
  readonly guard: Guard;
  /** Answers requests as the cluster's administrator: for code in the same process. */
  readonly transport: Transport;
  readonly fetch: ReturnType<typeof toFetch>;
  readonly #custom: CustomResources;
  readonly #services: Services;
  readonly #extensions: Extensions;
  readonly #aggregation: Aggregation;
  readonly #keeper: DefaultsKeeper;
  readonly #events: Expiry;
  readonly #ownService: OwnService;
  readonly #flows: FlowControl;

  constructor(options: ApiServerOptions = {}) {
    const { clock = realClock(), state, journal, history, audit } = options;
    this.clock = clock;
    this.store = new Store({ clock, ...(journal && { journal }), ...(history && { history }) }, state);
    this.registry = new Registry(kubernetesFacts(options.kubernetes));
    registerBuiltins(this.registry);
    this.access = new AccessControl({ ...options.access, store: this.store, clock });
    this.guard = new Guard({
      access: this.access,
      ...(audit && { audit }),
      limit: (...request) => this.#flows.run(...request),
      answer: (...authorized) => this.answer(...authorized),
    });
    this.transport = this.guard.as(ADMINISTRATOR);
    this.fetch = toFetch(this.transport);
    const { store, registry, access, metrics, guard } = this;
    const parts = wire({ store, clock, registry, access, metrics, guard }, options);
    const { admission, tables, extensions, aggregation, keeper, ownService } = parts;
    this.#ownService = ownService;
    this.#extensions = extensions;
    this.#aggregation = aggregation;
    this.#keeper = keeper;
    this.#services = {
      store: this.store,
      clock,
      registry: this.registry,
      activity: this.activity,
      admission,
      tables,
      authorize: (user, action) => this.access.authorizer.authorize(user, action),
    };
    this.#events = this.#expiringEvents(options.eventTtl ?? EVENT_TTL);
    this.#custom = new CustomResources(this.#services, options.callWebhook ?? noWebhooks);
    this.#flows = new FlowControl(this.store, clock);
    this.metrics.more = () => this.#flows.metrics();
  }

  /** Priority and fairness, for a separate guard in front of this server: makes requests wait, or refuses them. */
  readonly limit: Limiter = (user, info, work) => this.#flows.run(user, info, work);

  /** A transport with another identity: its requests are authorized as that user's. */
  as(user: User): Transport {
    return this.guard.as(user);
  }

  /** Says in the cluster where the server is: the Service `kubernetes` leads there from now on. */
  advertise(address: AdvertisedAddress): void {
    this.#ownService.advertise(address);
  }

  /** The whole state, to start another server from. */
  snapshot(): Snapshot {
    return this.store.snapshot();
  }

  close(): void {
    this.#events.close();
    this.#ownService.close();
    this.#keeper.close();
    this.#flows.close();
    this.#aggregation.close();
    this.store.close();
  }

  #expiringEvents(ttl: number): Expiry {
    const definition = this.registry.get("", "events")!;
    return new Expiry(this.store, this.clock, { resource: definition.storage, ttl });
  }

  /** Carries out a request that a guard has authorized, such as one that serves more than this server does. */
  async answer(
    request: ApiRequest,
    info: RequestInfo,
    user: User,
    audited?: AuditedRequest | undefined,
  ): Promise<ApiResponse> {
    const annotate = annotations(audited);
    const warnings = new Warnings();
    const answered = this.activity.begin(user.name, info);
    const notes = { warn: (text: string) => warnings.add(text), ...(annotate && { annotate }) };
    let response: ApiResponse;
    try {
      response = await this.#route(request, info, user, notes);
    } catch (error) {
      response = errorResponse(error, errorForm(request, info.query));
    } finally {
      answered();
    }
    this.metrics.count(info, response.status, contentType(request) === APPLY_PATCH);
    const headers = warnings.headers();
    if (headers.length > 0) response.headers["warning"] = headers;
    return request.method === "HEAD" ? { ...response, body: "" } : response;
  }

  async #route(
    request: ApiRequest,
    info: RequestInfo,
    user: User,
    notes: Pick<Call, "warn" | "annotate">,
  ): Promise<ApiResponse> {
    if (!isLongRunning(info)) checkTimeout(info.query);
    const elsewhere = this.#aggregation.answer(request, info, user);
    if (elsewhere) return elsewhere;
    if (!info.isResource) {
      for (const answer of this.#extensions.paths) {
        const response = await answer(request, info, user);
        if (response) return response;
      }
      return pageNotFound();
    }
    const found = this.registry.find(info.group, info.version, info.resource);
    // Slashes before the root are ignored for authorization only.
    if (info.path.startsWith("//")) return pageNotFound();
    if (!found) {
      if (this.registry.hasBuiltinGroup(info.group)) throw noSuchPath();
      return pageNotFound();
    }
    const { definition, version } = found;
    if (definition.custom && isInNamespace(info, definition)) return pageNotFound();
    checkRoute(request, info, definition, version);
    checkPatchRoute(request, info, definition);
    const collection = info.verb === "list" || info.verb === "watch";
    const tables = version.verbs.includes("get");
    const form = negotiate(request, info.query, { custom: definition.custom, collection, tables });
    if (version.deprecation) notes.warn(version.deprecation);
    const call: Call = { ...this.#services, request, info, definition, version, user, form, dryRun: false, ...notes };
    const response = await dispatch(call, this.#extensions);
    await this.#custom.settle();
    this.#aggregation.settle();
    return response;
  }
}

/** How what is known of a request is added to its audit event. */
function annotations(audited: AuditedRequest | undefined): Call["annotate"] {
  return audited && ((key, value) => audited.annotate(key, value));
}
