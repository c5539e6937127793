import {
  ApiError,
  type ApiRequest,
  type ApiResponse,
  type Clock,
  realClock,
  type Transport,
  toFetch,
} from "@konverge/core";
import { Activity } from "./activity.ts";
import type { Aggregation } from "./aggregation/aggregation.ts";
import type { AuditedRequest, AuditLog } from "./audit/audit-log.ts";
import { AccessControl, type AccessControlOptions } from "./auth/access-control.ts";
import { attributesOf, forbiddenError } from "./auth/attributes.ts";
import { withoutImpersonation } from "./auth/impersonation.ts";
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
import { errorForm, negotiate, PLAIN } from "./http/form.ts";
import { checkTimeout } from "./http/query.ts";
import { isLongRunning, type RequestInfo, requestInfo } from "./http/request-info.ts";
import { Warnings } from "./http/warnings.ts";
import { bodyResponse } from "./representation/answer.ts";
import { Registry } from "./resources/registry.ts";
import { Expiry } from "./storage/expiry.ts";
import type { Journal } from "./storage/journal.ts";
import { type Snapshot, Store, type StoreHistory } from "./storage/store.ts";
import { dispatch } from "./verbs/dispatch.ts";
import { APPLY_PATCH } from "./verbs/patch.ts";
import { checkPatchRoute, checkRoute, noSuchPath, pageNotFound } from "./verbs/routes.ts";
import { noWebhooks } from "./webhook-call.ts";
import { type WiringOptions, wire } from "./wiring.ts";

export interface ApiServerOptions extends WiringOptions {
  clock?: Clock;
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

/** Who acts through {@link ApiServer.transport}. */
const ADMINISTRATOR: User = { name: "kubernetes-admin", groups: [MASTERS, AUTHENTICATED] };

/**
 * The embedded API server. A request passes authentication, audit, impersonation and authorization ({@link Guard}), is
 * routed to a path handler or to the verbs, and its answer is put into the form that was asked for.
 */
export class ApiServer {
  readonly store: Store;
  readonly clock: Clock;
  readonly registry = new Registry();
  readonly access: AccessControl;
  readonly metrics = new ServerMetrics();
  /** Who does what just now. */
  readonly activity = new Activity();
  /** Stands between a network and this server: what a listener serves. */
  readonly guard: Guard;
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
    registerBuiltins(this.registry);
    this.access = new AccessControl({ ...options.access, store: this.store, clock });
    const { admission, tables, extensions, aggregation, keeper, ownService } = wire(this, options);
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
    this.guard = new Guard({
      access: this.access,
      ...(audit && { audit }),
      limit: this.limit,
      answer: (request, info, user, audited) => this.#answer(request, info, user, annotations(audited)),
    });
  }

  /** Answers requests as the cluster's administrator: for code in the same process. */
  readonly transport: Transport = (request) => this.#actAs(ADMINISTRATOR, request);

  readonly fetch = toFetch(this.transport);

  /** Priority and fairness, for a separate guard in front of this server: makes requests wait, or refuses them. */
  readonly limit: Limiter = (user, info, work) => this.#flows.run(user, info, work);

  /** A transport with another identity: its requests are authorized as that user's. */
  as(user: User, audited?: AuditedRequest): Transport {
    return (request) => this.#actAs(user, request, annotations(audited));
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

  async #actAs(user: User, request: ApiRequest, annotate?: Call["annotate"]): Promise<ApiResponse> {
    try {
      const info = requestInfo(request);
      const acting = this.access.impersonate(user, request.headers, info)?.user ?? user;
      const { allowed, reason } = this.access.authorize(acting, info);
      if (!allowed) throw forbiddenError(acting, attributesOf(info), reason);
      const own = acting === user ? request : { ...request, headers: withoutImpersonation(request.headers) };
      return await this.#answer(own, info, acting, annotate);
    } catch (error) {
      return errorResponse(error);
    }
  }

  async #answer(request: ApiRequest, info: RequestInfo, user: User, annotate?: Call["annotate"]): Promise<ApiResponse> {
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
    if (!found) {
      if (this.registry.hasBuiltinGroup(info.group)) throw noSuchPath();
      return pageNotFound();
    }
    const { definition, version } = found;
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

/** An error that is for the client; others are thrown on. */
function errorResponse(error: unknown, form = PLAIN): ApiResponse {
  if (!(error instanceof ApiError)) throw error;
  const { retryAfterSeconds } = error.details ?? {};
  const headers: Record<string, string> = retryAfterSeconds ? { "retry-after": String(retryAfterSeconds) } : {};
  return bodyResponse(error.code, statusBody(error), form, headers);
}

/** The fields of a Status in the order of their declaration. */
function statusBody({ status: given }: ApiError): object {
  const { kind, apiVersion, metadata, status, message, reason, details, code } = given;
  return { kind, apiVersion, metadata, status, message, reason, details, code };
}
