import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";

/** Signs or verifies with one key. All of it is synchronous: requests are answered within one turn on virtual time. */
export interface TokenKey {
  /** As Kubernetes names keys: a digest of the public key. */
  readonly id: string;
  readonly algorithm: "RS256" | "ES256" | "ES384" | "ES512";
  readonly publicKey: KeyObject;
  readonly privateKey?: KeyObject;
}

const CURVES: Record<string, TokenKey["algorithm"]> = { prime256v1: "ES256", secp384r1: "ES384", secp521r1: "ES512" };
const HASHES = { RS256: "sha256", ES256: "sha256", ES384: "sha384", ES512: "sha512" } as const;

/** A key from PEM (private: it can sign; public: it can only verify) or from a key object. */
export function tokenKey(key: string | KeyObject): TokenKey {
  const given = typeof key === "string" ? parsePem(key) : key;
  const publicKey = given.type === "private" ? createPublicKey(given) : given;
  const id = createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest("base64url");
  return {
    id,
    algorithm: algorithmOf(publicKey),
    publicKey,
    ...(given.type === "private" && { privateKey: given }),
  };
}

function parsePem(pem: string): KeyObject {
  try {
    return pem.includes("PRIVATE KEY") ? createPrivateKey(pem) : createPublicKey(pem);
  } catch (cause) {
    throw new Error("a key for service-account tokens is no PEM of an RSA or EC key: give one, or none for a new one", {
      cause,
    });
  }
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): TokenKey["algorithm"] {
  if (asymmetricKeyType === "rsa") return "RS256";
  const algorithm = asymmetricKeyType === "ec" ? CURVES[asymmetricKeyDetails?.namedCurve ?? ""] : undefined;
  if (algorithm) return algorithm;
  throw new Error(
    `service-account tokens cannot be signed with a key of type ${asymmetricKeyType}: use RSA, or EC on P-256, P-384 or P-521`,
  );
}

/** A signed token in compact form. */
export function signJwt(key: TokenKey, claims: object): string {
  if (!key.privateKey) throw new Error("a public key cannot sign tokens: give the private key");
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${encode({ alg: key.algorithm, kid: key.id })}.${encode(claims)}`;
  const signature = sign(HASHES[key.algorithm], Buffer.from(signed), {
    key: key.privateKey,
    dsaEncoding: "ieee-p1363",
  });
  return `${signed}.${signature.toString("base64url")}`;
}

/** A token taken apart; nothing of it may be believed before its signature is verified. */
export interface ParsedJwt {
  readonly header: { alg?: unknown; kid?: unknown };
  readonly claims: Record<string, unknown>;
  readonly signed: string;
  readonly signature: Uint8Array;
}

const BASE64_URL = /^[A-Za-z0-9_-]+$/;

/** Undefined for what is no token in compact form. */
export function parseJwt(token: string): ParsedJwt | undefined {
  const [header, claims, signature, ...rest] = token.split(".");
  if (!header || !claims || !signature || rest.length > 0) return undefined;
  // Node's decoder ignores what does not belong there: the same token could be written in many ways.
  if (![header, claims, signature].every((part) => BASE64_URL.test(part))) return undefined;
  const decode = (part: string): unknown => JSON.parse(Buffer.from(part, "base64url").toString());
  try {
    return {
      header: decode(header) as ParsedJwt["header"],
      claims: decode(claims) as ParsedJwt["claims"],
      signed: `${header}.${claims}`,
      signature: Buffer.from(signature, "base64url"),
    };
  } catch {
    return undefined;
  }
}

/** Whether a key made a token's signature. The key alone says which algorithm is right, never the token. */
export function isSignedBy(key: TokenKey, token: ParsedJwt): boolean {
  if (token.header.alg !== key.algorithm) return false;
  return verify(
    HASHES[key.algorithm],
    Buffer.from(token.signed),
    { key: key.publicKey, dsaEncoding: "ieee-p1363" },
    token.signature,
  );
}
