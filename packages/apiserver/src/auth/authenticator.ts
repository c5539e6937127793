import { createHash } from "node:crypto";
import { ApiError, type ApiRequest, type Clock, headerOf } from "@konverge/core";
import type { Store } from "../storage/store.ts";
import type { Peer, PeerCertificate } from "./peer.ts";
import { bootstrapTokenUser } from "./tokens/bootstrap-tokens.ts";
import type { ServiceAccountTokens, TokenVerdict } from "./tokens/service-account-tokens.ts";
import type { StaticToken } from "./tokens/static-tokens.ts";
import { anonymousUser, type User, withAuthenticatedGroup } from "./user.ts";

/** Where credentials are looked up, and which kinds are accepted. */
export interface AuthenticatorOptions {
  store: Store;
  clock: Clock;
  serviceAccounts: ServiceAccountTokens;
  tokens?: readonly StaticToken[];
  /** Accept the Secrets of type bootstrap.kubernetes.io/token. Default: no, as in a real server. */
  bootstrapTokens?: boolean;
  /** Let requests without credentials in as system:anonymous, for authorization to judge. Default: yes. */
  anonymous?: boolean;
}

/** Begins a WebSocket subprotocol that is a token: browsers cannot set headers on one. */
export const BEARER_PROTOCOL = "base64url.bearer.authorization.k8s.io.";

/**
 * Finds out who asks: by client certificate, then by bearer token (static, service account, bootstrap). Credentials that are
 * shown and wrong are refused, even where none are required.
 */
export class Authenticator {
  readonly #options: AuthenticatorOptions;
  /** By digest, so that looking one up takes no longer for a better guess. */
  readonly #tokens: ReadonlyMap<string, User>;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    this.#tokens = new Map((options.tokens ?? []).map(({ token, user }) => [digest(token), user]));
  }

  /** The user who makes a request. Throws the 401 that a real server answers. */
  authenticate(request: Pick<ApiRequest, "headers" | "upgrade">, peer: Peer): User {
    const byCertificate = peer.certificate && userOfCertificate(peer.certificate);
    if (byCertificate) return withAuthenticatedGroup(byCertificate);
    const token = bearerToken(request);
    const byToken = token === undefined ? undefined : this.authenticateToken(token).user;
    if (byToken) return byToken;
    if (token !== undefined || peer.certificate?.problem !== undefined) throw unauthorized();
    if (this.#options.anonymous === false) throw unauthorized();
    return anonymousUser;
  }

  /** Whose token it is, for the audiences asked about (default: this server). */
  authenticateToken(token: string, audiences?: readonly string[]): TokenVerdict {
    const { store, clock, serviceAccounts, bootstrapTokens } = this.#options;
    const here = serviceAccounts.audiences.filter((audience) => audiences?.includes(audience) ?? true);
    const plain = this.#tokens.get(digest(token));
    const known = plain ?? (bootstrapTokens ? bootstrapTokenUser(store, clock, token) : undefined);
    // Tokens that name no audience are for this server alone.
    if (known && here.length > 0) return { user: withAuthenticatedGroup(known), audiences: here };
    const verdict = serviceAccounts.authenticate(token, audiences);
    return verdict.user ? { ...verdict, user: withAuthenticatedGroup(verdict.user) } : verdict;
  }
}

/** The answer to credentials that are wrong. */
export function unauthorized(): ApiError {
  return new ApiError({ code: 401, reason: "Unauthorized", message: "Unauthorized" });
}

function userOfCertificate({ problem, commonName, organizations, fingerprint }: PeerCertificate): User | undefined {
  if (problem !== undefined || commonName === "") return undefined;
  const extra = { "authentication.kubernetes.io/credential-id": [`X509SHA256=${fingerprint}`] };
  return { name: commonName, groups: organizations, extra };
}

function bearerToken({ headers, upgrade }: Pick<ApiRequest, "headers" | "upgrade">): string | undefined {
  const [scheme, token] = (headerOf(headers, "authorization") ?? "").trim().split(" ", 2);
  if (scheme?.toLowerCase() === "bearer" && token) return token;
  const protocol = upgrade?.find((name) => name.startsWith(BEARER_PROTOCOL));
  return protocol && Buffer.from(protocol.slice(BEARER_PROTOCOL.length), "base64url").toString();
}

function digest(token: string): string {
  return createHash("sha256").update(token).digest("base64");
}
