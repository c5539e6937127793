import { type Clock, parseJson } from "@konverge/core";
import type { OidcProvider } from "../config/connection-config.ts";
import { TransportError } from "../errors.ts";
import { basic, bearer, type Credential, type CredentialSource } from "./credential-source.ts";

/** Sends a request to the identity provider and resolves to its answer. */
export type ProviderFetch = (
  url: string,
  init?: { method: string; headers: Record<string, string>; body: string },
) => Promise<{ status: number; body: string }>;

/** A token this close to its end is renewed at once, so that it does not expire on the way. */
const MARGIN = 10_000;

/**
 * ID tokens of an OpenID Connect provider, renewed with a refresh token when they expire or the server refuses them;
 * callers that need one meanwhile wait for the same renewal.
 */
export class OidcCredentialSource implements CredentialSource {
  readonly #clock: Clock;
  readonly #provider: OidcProvider;
  readonly #fetch: ProviderFetch;
  #idToken: string | undefined;
  #refreshToken: string | undefined;
  #renewing: Promise<Credential> | undefined;

  constructor(clock: Clock, provider: OidcProvider, fetch: ProviderFetch) {
    this.#clock = clock;
    this.#provider = provider;
    this.#fetch = fetch;
    this.#idToken = provider.idToken;
    this.#refreshToken = provider.refreshToken;
  }

  async get(): Promise<Credential> {
    if (this.#idToken && expiryOf(this.#idToken) > this.#clock.now() + MARGIN) {
      return { authorization: bearer(this.#idToken) };
    }
    return this.#renew();
  }

  async renew(rejected: Credential): Promise<Credential | undefined> {
    const current = this.#idToken && bearer(this.#idToken);
    if (current && current !== rejected.authorization) return { authorization: current };
    return this.#refreshToken ? this.#renew() : undefined;
  }

  #renew(): Promise<Credential> {
    this.#renewing ??= this.#refresh().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #refresh(): Promise<Credential> {
    const { issuerUrl, clientId, clientSecret, onRenewed } = this.#provider;
    if (!this.#refreshToken)
      throw this.#failure("the ID token has expired, and there is no refresh token; log in again");
    const discovery = `${issuerUrl.replace(/\/$/, "")}/.well-known/openid-configuration`;
    const endpoint = (await this.#ask(discovery)).token_endpoint;
    if (typeof endpoint !== "string") throw this.#failure(`${discovery} has no token_endpoint`);
    const form = new URLSearchParams({ grant_type: "refresh_token", refresh_token: this.#refreshToken });
    const headers: Record<string, string> = { "content-type": "application/x-www-form-urlencoded" };
    if (clientSecret) headers.authorization = basic(encodeURIComponent(clientId), encodeURIComponent(clientSecret));
    else form.set("client_id", clientId);
    const answer = await this.#ask(endpoint, { method: "POST", headers, body: form.toString() });
    if (typeof answer.id_token !== "string") throw this.#failure("the provider's response has no id_token");
    this.#idToken = answer.id_token;
    const refreshToken = typeof answer.refresh_token === "string" ? answer.refresh_token : undefined;
    this.#refreshToken = refreshToken ?? this.#refreshToken;
    await onRenewed?.({ idToken: this.#idToken, ...(refreshToken && { refreshToken }) });
    return { authorization: bearer(this.#idToken) };
  }

  async #ask(url: string, init?: Parameters<ProviderFetch>[1]): Promise<Record<string, unknown>> {
    let answer: { status: number; body: string };
    try {
      answer = await this.#fetch(url, init);
    } catch (cause) {
      throw this.#failure(`${url}: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
    }
    if (answer.status !== 200) throw this.#failure(`${url} answered ${answer.status}: ${answer.body.slice(0, 200)}`);
    try {
      return parseJson(answer.body) as Record<string, unknown>;
    } catch (cause) {
      throw this.#failure(`${url} did not answer with JSON`, cause);
    }
  }

  #failure(why: string, cause?: unknown): TransportError {
    const message = `credentials from ${this.#provider.issuerUrl}: ${why}`;
    return new TransportError("credentials", message, { cause, unknownOutcome: false });
  }
}

/** When a token expires, in milliseconds since 1970; 0 when it does not say. */
function expiryOf(token: string): number {
  try {
    const claims = parseJson(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as { exp?: number };
    return (claims.exp ?? 0) * 1000;
  } catch {
    return 0;
  }
}
