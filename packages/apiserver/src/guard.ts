import {
  ApiError,
  type ApiRequest,
  type ApiResponse,
  type HeaderMap,
  stringifyJson,
  type Transport,
} from "@konverge/core";
import type { AuditedRequest, AuditLog } from "./audit/audit-log.ts";
import type { AccessControl } from "./auth/access-control.ts";
import { attributesOf, forbiddenError } from "./auth/attributes.ts";
import { BEARER_PROTOCOL } from "./auth/authenticator.ts";
import { withoutImpersonation } from "./auth/impersonation.ts";
import type { Peer } from "./auth/peer.ts";
import type { User } from "./auth/user.ts";
import { type RequestInfo, requestInfo } from "./http/request-info.ts";

/** Carries out a request that is allowed. `audit` takes what is worth writing down about it. */
export type Answerer = (
  request: ApiRequest,
  info: RequestInfo,
  user: User,
  audit: AuditedRequest | undefined,
) => Promise<ApiResponse>;

/** What a guard consults, and whom it guards. */
export interface GuardOptions {
  access: AccessControl;
  audit?: AuditLog;
  answer: Answerer;
  /** Makes requests wait, or refuses them, when there are too many. */
  limit?: Limiter;
  /** Sees each request first. */
  front?: Front;
}

/** Stands before a guard: it passes a request on, as it is or changed, or answers it itself. */
export type Front = (request: ApiRequest, next: Transport) => Promise<ApiResponse>;

/** Carries a request out when there is room for it. */
export type Limiter = (user: User, info: RequestInfo, work: () => Promise<ApiResponse>) => Promise<ApiResponse>;

const unlimited: Limiter = (_user, _info, work) => work();

/**
 * Stands between a network and the server: nothing gets past it unauthenticated, unauthorized or unaudited. A listener takes
 * one to serve beyond this machine, and nothing else will do.
 */
export class Guard {
  readonly #options: GuardOptions;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /** A listener says at which address it passes requests on. */
  listening(address: string): void {
    this.#options.access.address = address;
  }

  /** The same guard with something before it, such as a proxy that injects faults. */
  behind(front: Front): Guard {
    return new Guard({ ...this.#options, front });
  }

  async handle(request: ApiRequest, peer: Peer): Promise<ApiResponse> {
    const { front } = this.#options;
    return front ? front(request, (onward) => this.#handle(onward, peer)) : this.#handle(request, peer);
  }

  async #handle(request: ApiRequest, peer: Peer): Promise<ApiResponse> {
    const { access, audit } = this.#options;
    let info: RequestInfo;
    try {
      info = requestInfo(request);
    } catch (error) {
      return errorResponse(error);
    }
    let user: User;
    try {
      user = access.authenticate(request, peer);
    } catch (error) {
      const response = errorResponse(error);
      return audit?.begin(request, info, { user: undefined, peer })?.finish(response) ?? response;
    }
    const audited = audit?.begin(request, info, { user, peer });
    const response = await this.#answer(request, info, user, audited);
    const headers: HeaderMap = { "cache-control": "no-cache, private", ...response.headers };
    if (audited) headers["audit-id"] = audited.id;
    return audited ? audited.finish({ ...response, headers }) : { ...response, headers };
  }

  async #answer(
    request: ApiRequest,
    info: RequestInfo,
    user: User,
    audited: AuditedRequest | undefined,
  ): Promise<ApiResponse> {
    const { access, limit = unlimited } = this.#options;
    try {
      const impersonation = access.impersonate(user, request.headers, info);
      if (impersonation) audited?.impersonating(impersonation.user, impersonation.constraint);
      const acting = impersonation?.user ?? user;
      return await limit(acting, info, () => this.#carryOut(request, info, acting, audited));
    } catch (error) {
      if (!(error instanceof ApiError)) audited?.panic(error);
      return errorResponse(error);
    }
  }

  /** What a request that has been given a seat comes to. */
  async #carryOut(
    request: ApiRequest,
    info: RequestInfo,
    acting: User,
    audited: AuditedRequest | undefined,
  ): Promise<ApiResponse> {
    const { access, answer } = this.#options;
    try {
      const { allowed, reason } = access.authorize(acting, info);
      audited?.authorized(allowed, reason);
      if (!allowed) throw forbiddenError(acting, attributesOf(info), reason);
      return await answer(withoutCredentials(request), info, acting, audited);
    } catch (error) {
      return errorResponse(error);
    }
  }
}

/** Nothing further on is tempted to use them. */
function withoutCredentials(request: ApiRequest): ApiRequest {
  const { authorization: _, ...headers } = withoutImpersonation(request.headers);
  const upgrade = request.upgrade?.filter((protocol) => !protocol.startsWith(BEARER_PROTOCOL));
  return { ...request, headers, ...(upgrade && { upgrade }) };
}

/** An error that is for the client; others are thrown on. */
function errorResponse(error: unknown): ApiResponse {
  if (!(error instanceof ApiError)) throw error;
  const body = `${stringifyJson(error.status)}\n`;
  return { status: error.code, headers: { "content-type": "application/json" }, body };
}
