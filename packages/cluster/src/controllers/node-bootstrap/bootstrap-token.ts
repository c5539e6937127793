import { createHmac } from "node:crypto";
import type { Client } from "@konverge/client";
import { type Clock, isAlreadyExists } from "@konverge/core";
import { Secret } from "@konverge/kinds";

/** Where bootstrap tokens are kept. */
export const TOKEN_NAMESPACE = "kube-system";
export const TOKEN_TYPE = "bootstrap.kubernetes.io/token";
/** The group of users with such a token, which has the permissions to join. As kubeadm names it. */
export const TOKEN_GROUP = "system:bootstrappers:kubeadm:default-node-token";

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";

/** A bootstrap token, and how long it is valid. */
export interface BootstrapTokenOptions {
  /** `ID.SECRET`, six and sixteen lower-case letters or digits. Default: random. */
  readonly token?: string;
  /** Milliseconds until it expires. Default: 24 hours. */
  readonly ttl?: number;
}

const TTL = 24 * 3_600_000;

/** Creates a bootstrap token for kubelets, or renews the existing one, and returns it. */
export async function createBootstrapToken(
  client: Client,
  clock: Clock,
  { token = randomToken(clock), ttl = TTL }: BootstrapTokenOptions = {},
): Promise<string> {
  const [, id, secret] = TOKEN.exec(token) ?? [];
  if (!id || !secret) throw new Error(`the bootstrap token ${token} is not of the form "${TOKEN.source}"`);
  const object = {
    metadata: { name: `bootstrap-token-${id}`, namespace: TOKEN_NAMESPACE },
    type: TOKEN_TYPE,
    stringData: {
      "token-id": id,
      "token-secret": secret,
      expiration: new Date(clock.now() + ttl).toISOString().replace(/\.\d+Z$/, "Z"),
      "usage-bootstrap-authentication": "true",
      "usage-bootstrap-signing": "true",
      "auth-extra-groups": TOKEN_GROUP,
    },
  };
  // Direct writes: a token is created on request, and belongs to no object.
  await client.create(Secret, object).catch(async (error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
    await client.patch(Secret, `${TOKEN_NAMESPACE}/${object.metadata.name}`, {
      merge: { stringData: object.stringData },
    });
  });
  return token;
}

function randomToken({ secrets }: Clock): string {
  return `${secrets.text(6, ALPHABET)}.${secrets.text(16, ALPHABET)}`;
}

const textOf = ({ data }: Secret, key: string): string => Buffer.from(data?.[key] ?? "", "base64").toString();

/** When a token expires, in milliseconds; what cannot be read as a time has expired. Undefined: never. */
export function expirationOf(secret: Secret): number | undefined {
  const text = textOf(secret, "expiration");
  if (text === "") return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time;
}

/** The ID and the secret of a token that signs; undefined for one that does not, or has expired. */
export function signingToken(secret: Secret, now: number): { id: string; secret: string } | undefined {
  const [id, value] = [textOf(secret, "token-id"), textOf(secret, "token-secret")];
  if (id === "" || value === "" || secret.metadata.name !== `bootstrap-token-${id}`) return undefined;
  if (textOf(secret, "usage-bootstrap-signing") !== "true") return undefined;
  return (expirationOf(secret) ?? Number.POSITIVE_INFINITY) > now ? { id, secret: value } : undefined;
}

/** A JSON Web Signature without the content that it is about (RFC 7515, appendix F). */
export function detachedSignature(content: string, token: { id: string; secret: string }): string {
  const header = Buffer.from(JSON.stringify({ alg: "HS256", kid: token.id })).toString("base64url");
  const signed = `${header}.${Buffer.from(content).toString("base64url")}`;
  return `${header}..${createHmac("sha256", token.secret).update(signed).digest("base64url")}`;
}
