import { ApiError, type ApiRequest, type ApiResponse, type HeaderMap, type Transport } from "@konverge/core";
import type { AuditedRequest, AuditLog } from "./audit/audit-log.ts";
import type { AccessControl } from "./auth/access-control.ts";
import { attributesOf, forbiddenError } from "./auth/attributes.ts";
import { BEARER_PROTOCOL } from "./auth/authenticator.ts";
import { withoutImpersonation } from "./auth/impersonation.ts";
import type { Peer } from "./auth/peer.ts";
import type { User } from "./auth/user.ts";
import { type RequestInfo, requestInfo } from "./http/request-info.ts";
import { errorResponse } from "./representation/error-response.ts";

/** Carries out a request that a {@link Guard} has authorized. `audit` takes what is worth writing down about it. */
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

/**
 * Reads the body of a request, which a guard does only once it knows who asks, and that the user may. Throws what the client
 * is answered when the body is too large, too slow, or more than the user may hold at a time.
 */
export type BodyReader = (user: User) => Promise<Uint8Array | undefined>;

/** Who makes a request, and what is known of it before it is authorized. */
interface Principal {
  readonly user: User;
  /** Read from the request already. */
  readonly info?: RequestInfo;
  readonly audited?: AuditedRequest | undefined;
  readonly readBody?: BodyReader | undefined;
  readonly limit?: Limiter | undefined;
}

/**
 * The one door to the server. A client at the other end of a connection is authenticated, audited and limited ({@link handle});
 * code in the same process acts as a user that it names ({@link as}). From there both take the same way: impersonation,
 * authorization, answer. A listener takes a guard to serve beyond this machine, and nothing else will do.
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

  /** A transport for code in the same process, whose requests are authorized as that user's, and neither audited nor limited. */
  as(user: User): Transport {
    return (request) => this.#pass(request, { user });
  }

  /** Answers a request of the client at the other end of a connection. Without `readBody`, the request has its body. */
  async handle(request: ApiRequest, peer: Peer, readBody?: BodyReader): Promise<ApiResponse> {
    const { front } = this.#options;
    if (!front) return this.#handle(request, peer, readBody);
    let complete: ApiRequest;
    try {
      complete = await this.#completed(request, peer, readBody);
    } catch (error) {
      return errorResponse(error);
    }
    return front(complete, (onward) => this.#handle(onward, peer));
  }

  /** With its body, unless its client shows wrong credentials. */
  async #completed(request: ApiRequest, peer: Peer, readBody: BodyReader | undefined): Promise<ApiRequest> {
    let user: User;
    try {
      user = this.#options.access.authenticate(request, peer);
    } catch (error) {
      if (error instanceof ApiError) return request;
      throw error;
    }
    return withBody(request, await readBody?.(user));
  }

  async #handle(request: ApiRequest, peer: Peer, readBody?: BodyReader): Promise<ApiResponse> {
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
    const response = await this.#pass(request, { user, info, audited, readBody, limit: this.#options.limit });
    const headers: HeaderMap = { "cache-control": "no-cache, private", ...response.headers };
    if (audited) headers["audit-id"] = audited.id;
    return audited ? audited.finish({ ...response, headers }) : { ...response, headers };
  }

  /** The way of every request: impersonation, authorization, answer. */
  async #pass(request: ApiRequest, { user, info: known, audited, readBody, limit }: Principal): Promise<ApiResponse> {
    const { access, answer } = this.#options;
    try {
      const info = known ?? requestInfo(request);
      const impersonation = access.impersonate(user, request.headers, info);
      if (impersonation) audited?.impersonating(impersonation.user, impersonation.constraint);
      const acting = impersonation?.user ?? user;
      const { allowed, reason } = access.authorize(acting, info);
      // A client that sends its body slowly holds no seat meanwhile.
      const body = allowed && readBody ? await readBody(user) : undefined;
      const carryOut = () => {
        audited?.authorized(allowed, reason);
        if (!allowed) throw forbiddenError(acting, attributesOf(info), reason);
        const complete = withBody(request, body);
        audited?.received(complete);
        return answer(withoutCredentials(complete), info, acting, audited);
      };
      if (!limit) return await carryOut();
      return await limit(acting, info, async () => {
        try {
          return await carryOut();
        } catch (error) {
          return errorResponse(error);
        }
      });
    } catch (error) {
      if (!(error instanceof ApiError)) audited?.panic(error);
      return errorResponse(error);
    }
  }
}

function withBody(request: ApiRequest, body: Uint8Array | undefined): ApiRequest {
  return body === undefined ? request : { ...request, body };
}

const CREDENTIALS = /^(authorization$|impersonate-)/i;

/** Nothing further on is tempted to use them. */
function withoutCredentials(request: ApiRequest): ApiRequest {
  if (!request.upgrade && !Object.keys(request.headers).some((name) => CREDENTIALS.test(name))) return request;
  const { authorization: _, ...headers } = withoutImpersonation(request.headers);
  const upgrade = request.upgrade?.filter((protocol) => !protocol.startsWith(BEARER_PROTOCOL));
  return { ...request, headers, ...(upgrade && { upgrade }) };
}
