import { generateKeyPairSync, type KeyObject } from "node:crypto";
import type { Clock } from "@konverge/core";
import type { Store } from "../../storage/store.ts";
import { serviceAccountGroups, serviceAccountUserName, type User } from "../user.ts";
import { isSignedBy, type ParsedJwt, parseJwt, signJwt, type TokenKey, tokenKey } from "./jwt.ts";
import { checkLegacyClaims, LEGACY_ISSUER, type LegacySecret, legacyClaims } from "./legacy-tokens.ts";
import { liveObject, type ObjectRef } from "./live-object.ts";

/** The keys and names that tokens are made and judged with. */
export interface ServiceAccountTokensOptions {
  store: Store;
  clock: Clock;
  /** Signs new tokens; PEM. Without it a new key is made, and tokens end with the process. */
  signingKey?: string | KeyObject;
  /** Further keys whose tokens are accepted; PEM. */
  verificationKeys?: readonly (string | KeyObject)[];
  issuer?: string;
  /** Who this server is to tokens. Default: the issuer. */
  audiences?: readonly string[];
}

/** What a token says, and what it is bound to: it is void when that goes. */
export interface TokenSubject {
  readonly namespace: string;
  readonly serviceAccount: ObjectRef;
  readonly pod?: ObjectRef;
  readonly secret?: ObjectRef;
  readonly node?: Partial<ObjectRef>;
}

/** The outcome of looking at a token: not one of ours (neither), wrong, or whose it is. */
export interface TokenVerdict {
  readonly error?: string;
  readonly user?: User;
  readonly audiences?: readonly string[];
}

/** As go-jose allows for clocks that differ. */
const LEEWAY_SECONDS = 60;
const MOST_REMEMBERED = 1000;
const DEFAULT_ISSUER = "https://kubernetes.default.svc.cluster.local";

interface KubernetesClaims {
  namespace?: string;
  serviceaccount?: ObjectRef;
  pod?: ObjectRef;
  secret?: ObjectRef;
  node?: ObjectRef;
}

/** Issues the tokens of service accounts and judges those that come back. */
export class ServiceAccountTokens {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly #store: Store;
  readonly #clock: Clock;
  #signingKey: TokenKey | undefined;
  readonly #verificationKeys: readonly TokenKey[];
  /** Tokens whose signature was found to be right: what they claim is checked each time. */
  readonly #verified = new Map<string, ParsedJwt>();

  constructor(options: ServiceAccountTokensOptions) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.issuer = options.issuer ?? DEFAULT_ISSUER;
    this.audiences = options.audiences ?? [this.issuer];
    this.#signingKey = options.signingKey === undefined ? undefined : tokenKey(options.signingKey);
    this.#verificationKeys = (options.verificationKeys ?? []).map(tokenKey);
  }

  /** Without one that was given, it is generated with the first token. */
  get #key(): TokenKey {
    this.#signingKey ??= tokenKey(generateKeyPairSync("ec", { namedCurve: "prime256v1" }).privateKey);
    return this.#signingKey;
  }

  get #keys(): readonly TokenKey[] {
    return [this.#key, ...this.#verificationKeys];
  }

  /** A token for a service account, and the id that audit logs know it by. */
  issue(
    subject: TokenSubject,
    lifetime: { seconds: number; warnAfterSeconds?: number },
    audiences: readonly string[],
  ): { token: string; id: string } {
    const now = this.#seconds();
    const { namespace, serviceAccount, pod, secret, node } = subject;
    const { warnAfterSeconds: warn } = lifetime;
    const id = this.#clock.random.uuid();
    const token = signJwt(this.#key, {
      aud: audiences,
      exp: now + lifetime.seconds,
      iat: now,
      iss: this.issuer,
      jti: id,
      "kubernetes.io": {
        namespace,
        ...(node && { node }),
        ...(pod && { pod }),
        ...(secret && { secret }),
        serviceaccount: serviceAccount,
        ...(warn && { warnafter: now + warn }),
      },
      nbf: now,
      sub: serviceAccountUserName(namespace, serviceAccount.name),
    });
    return { token, id };
  }

  /** The token that belongs into a Secret of type kubernetes.io/service-account-token: it lasts as long as the Secret. */
  issueLegacy(secret: LegacySecret): string {
    return signJwt(this.#key, { iss: LEGACY_ISSUER, ...legacyClaims(secret) });
  }

  /** Judges a token for the audiences that are asked about (default: this server). */
  authenticate(token: string, audiences: readonly string[] = this.audiences): TokenVerdict {
    const parsed = this.#verified.get(token) ?? parseJwt(token);
    const issuer = parsed?.claims["iss"];
    if (!parsed || (issuer !== this.issuer && issuer !== LEGACY_ISSUER)) return {};
    const error = this.#checkSignature(token, parsed);
    if (error) return { error };
    const stated = audiencesOf(parsed);
    const tokenAudiences = stated.length > 0 ? stated : this.audiences;
    const accepted = tokenAudiences.filter((audience) => audiences.includes(audience));
    if (accepted.length === 0) {
      return {
        error: `token audiences ${list(tokenAudiences)} is invalid for the target audiences ${list(audiences)}`,
      };
    }
    const verdict =
      issuer === LEGACY_ISSUER ? checkLegacyClaims(this.#store, token, parsed.claims) : this.#checkClaims(parsed);
    return verdict.user ? { user: verdict.user, audiences: accepted } : verdict;
  }

  /** The document at /.well-known/openid-configuration. */
  openIdConfiguration(jwksUri: string): object {
    return {
      issuer: this.issuer,
      jwks_uri: jwksUri,
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: [...new Set(this.#keys.map(({ algorithm }) => algorithm))].sort(),
    };
  }

  /** The document at /openid/v1/jwks: the keys by which others can verify tokens. */
  jsonWebKeys(): object {
    const keys = this.#keys.map(({ publicKey, id, algorithm }) => {
      return { use: "sig", ...publicKey.export({ format: "jwk" }), kid: id, alg: algorithm };
    });
    return { keys };
  }

  #checkSignature(token: string, parsed: ParsedJwt): string | undefined {
    if (this.#verified.has(token)) return undefined;
    const { kid } = parsed.header;
    const keys = kid === undefined ? this.#keys : this.#keys.filter(({ id }) => id === kid);
    if (keys.length === 0) return "invalid signature, no keys found";
    if (!keys.some((key) => isSignedBy(key, parsed))) return "go-jose/go-jose: error in cryptographic primitive";
    if (this.#verified.size >= MOST_REMEMBERED) this.#verified.clear();
    this.#verified.set(token, parsed);
    return undefined;
  }

  #checkClaims({ claims }: ParsedJwt): TokenVerdict {
    const now = this.#seconds();
    const { exp, nbf, iat, jti } = claims as { exp?: number; nbf?: number; iat?: number; jti?: string };
    if (nbf !== undefined && now + LEEWAY_SECONDS < nbf) return { error: "service account token is not valid yet" };
    if (exp !== undefined && now - LEEWAY_SECONDS > exp) return { error: "service account token has expired" };
    if (iat !== undefined && now + LEEWAY_SECONDS < iat) {
      return { error: "service account token is issued in the future" };
    }
    const { namespace = "", serviceaccount, pod, secret, node } = (claims["kubernetes.io"] ?? {}) as KubernetesClaims;
    const account = serviceaccount ?? { name: "", uid: "" };
    const deadline = this.#clock.now() - LEEWAY_SECONDS * 1000;
    const check = (resource: string, key: string, ref: ObjectRef) =>
      liveObject(this.#store, resource, key, ref, deadline);

    const found = check("/serviceaccounts", `${namespace}/${account.name}`, account);
    if (found.state === "missing") return { error: `serviceaccounts "${account.name}" not found` };
    if (found.state === "replaced") {
      return { error: `service account UID (${found.uid}) does not match claim (${account.uid})` };
    }
    if (found.state === "deleted") return { error: `service account ${namespace}/${account.name} has been deleted` };

    const bound: [what: string, ref: ObjectRef | undefined, resource: string, key: string][] = [
      ["secret", secret, "/secrets", `${namespace}/${secret?.name}`],
      ["pod", pod, "/pods", `${namespace}/${pod?.name}`],
      // A pod's token names its node, but is not bound to it.
      ["node", pod ? undefined : node, "/nodes", `${node?.name}`],
    ];
    for (const [what, ref, resource, key] of bound) {
      if (!ref) continue;
      const { state, uid } = check(resource, key, ref);
      if (state === "replaced") {
        return { error: `${what} UID (${uid}) does not match service account ${what} ref claim (${ref.uid})` };
      }
      if (state !== "live") return { error: "service account token has been invalidated" };
    }
    return {
      user: {
        name: serviceAccountUserName(namespace, account.name),
        uid: account.uid,
        groups: serviceAccountGroups(namespace),
        extra: extraOf(jti, pod, node),
      },
    };
  }

  #seconds(): number {
    return Math.floor(this.#clock.now() / 1000);
  }
}

function extraOf(id: string | undefined, pod: ObjectRef | undefined, node: ObjectRef | undefined) {
  const extra: Record<string, string[]> = {};
  const set = (key: string, value: string | undefined) => {
    if (value) extra[`authentication.kubernetes.io/${key}`] = [value];
  };
  set("credential-id", id && `JTI=${id}`);
  set("node-name", node?.name);
  set("node-uid", node?.uid);
  if (pod?.name && pod.uid) {
    set("pod-name", pod.name);
    set("pod-uid", pod.uid);
  }
  return extra;
}

function audiencesOf({ claims }: ParsedJwt): string[] {
  const audience = claims["aud"];
  return typeof audience === "string" ? [audience] : Array.isArray(audience) ? (audience as string[]) : [];
}

function list(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(" ")}]`;
}
