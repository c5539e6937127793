/**
 * Who asks, and whether they may.
 *
 * {@link AccessControl} authenticates (client certificates, service-account and other tokens), handles
 * impersonation, and authorizes by the roles and bindings in the store. A {@link Guard} puts it, and the audit log, in front of
 * the server. The reviews answer questions about all of this as API objects. {@link checkEscalation} keeps users from
 * granting permissions that they do not have; {@link ensureDefaultRoles} gives a new cluster the roles that every cluster has.
 *
 * It promises to decide, and to word its refusals, as a real API server does; all of it is synchronous.
 */
import type { ApiRequest, Clock, HeaderMap } from "@konverge/core";
import type { RequestInfo } from "../http/request-info.ts";
import type { Store } from "../storage/store.ts";
import { attributesOf } from "./attributes.ts";
import { Authenticator } from "./authenticator.ts";
import { type Impersonation, Impersonator } from "./impersonation.ts";
import type { Peer } from "./peer.ts";
import { Authorizer, type Decision } from "./rbac/authorizer.ts";
import { ServiceAccountTokens, type ServiceAccountTokensOptions } from "./tokens/service-account-tokens.ts";
import type { StaticToken } from "./tokens/static-tokens.ts";
import type { User } from "./user.ts";

/** The credentials that are believed. Client certificates are judged by the listener. */
export interface AccessControlOptions {
  store: Store;
  clock: Clock;
  /** Keys, issuer and audiences of service-account tokens. */
  serviceAccounts?: Omit<ServiceAccountTokensOptions, "store" | "clock">;
  tokens?: readonly StaticToken[];
  /** Accept bootstrap tokens. Default: no. */
  bootstrapTokens?: boolean;
  /** Let requests without credentials in as system:anonymous. Default: yes. */
  anonymous?: boolean;
}

/**
 * Who asks, and whether they may. A request passes three gates, in this order: {@link authenticate}, {@link impersonate},
 * {@link authorize}; see {@link Guard}.
 */
export class AccessControl {
  readonly authorizer: Authorizer;
  readonly authenticator: Authenticator;
  readonly serviceAccounts: ServiceAccountTokens;
  /** The address of the server for clients, as `host:port`: the port that was opened last. */
  address = "127.0.0.1:6443";
  readonly #impersonator: Impersonator;

  constructor({ store, clock, serviceAccounts, ...options }: AccessControlOptions) {
    this.authorizer = new Authorizer(store);
    this.serviceAccounts = new ServiceAccountTokens({ ...serviceAccounts, store, clock });
    this.authenticator = new Authenticator({ ...options, store, clock, serviceAccounts: this.serviceAccounts });
    this.#impersonator = new Impersonator(this.authorizer);
  }

  /** The user who makes a request; throws a 401 for credentials that are wrong. */
  authenticate(request: Pick<ApiRequest, "headers" | "upgrade">, peer: Peer): User {
    return this.authenticator.authenticate(request, peer);
  }

  /** Whom the request's headers ask to act as, if they do; throws when the user may not. */
  impersonate(user: User, headers: HeaderMap, info: RequestInfo): Impersonation | undefined {
    return this.#impersonator.impersonate(user, headers, attributesOf(info));
  }

  /** Whether the user may make this request. */
  authorize(user: User, info: RequestInfo): Decision {
    return this.authorizer.authorize(user, attributesOf(info));
  }
}
