import { createPublicKey, type JsonWebKey, verify } from "node:crypto";
import type { Process } from "@konverge/cluster";
import { askAsAccount } from "./pod-account.ts";
import { flagsOf } from "./serve.ts";

interface Claims {
  readonly iss: string;
  readonly aud: string | readonly string[];
  readonly exp: number;
}

interface Discovered {
  readonly issuer: string;
  readonly jwks_uri: string;
}

/**
 * `agnhost test-service-account-issuer-discovery`: discovers the keys of a token's issuer from its claims, as any relying
 * party does, and verifies the token with them.
 */
export async function issuerDiscovery(process: Process): Promise<number> {
  const flags = flagsOf(process.argv.slice(2));
  const { files, clock, stdout, stderr } = process;
  const token = files.readText(flags.get("token-path") ?? "").trim();
  const [head = "", body = "", signature = ""] = token.split(".");
  const { kid, alg } = decoded<{ kid: string; alg: string }>(head);
  const { iss, aud, exp } = decoded<Claims>(body);
  const refuse = (why: string) => {
    stderr(`${why}\n`);
    return 1;
  };
  const found = await askAsAccount<Discovered>(process, `${iss}/.well-known/openid-configuration`);
  if (!found) return refuse(`${iss} says nothing about itself`);
  if (found.issuer !== iss) return refuse(`oidc: issuer did not match: expected ${iss}, got ${found.issuer}`);
  const { keys } = (await askAsAccount<{ keys: (JsonWebKey & { kid: string })[] }>(process, found.jwks_uri)) ?? {
    keys: [],
  };
  const jwk = keys.find((key) => key.kid === kid);
  if (!jwk) return refuse(`no key ${kid} at ${found.jwks_uri}`);
  const key = createPublicKey({ key: jwk, format: "jwk" });
  const signed = Buffer.from(`${head}.${body}`);
  const how = alg.startsWith("ES") ? { key, dsaEncoding: "ieee-p1363" as const } : key;
  if (!verify(`sha${alg.slice(2)}`, signed, how, Buffer.from(signature, "base64url"))) return refuse("wrong signature");
  if (![aud].flat().includes(flags.get("audience") ?? "")) return refuse(`oidc: the token is for ${aud}`);
  if (exp * 1000 < clock.now()) return refuse("oidc: token is expired");
  stdout("OK: Constructed OIDC provider\nOK: Validated signature on JWT\nOK: Got valid claims from token!\n");
  return 0;
}

const decoded = <T>(part: string) => JSON.parse(Buffer.from(part, "base64url").toString()) as T;
