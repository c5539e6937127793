import { generateKeyPairSync } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Authority, createAuthority, SqliteJournal } from "@konverge/apiserver";
import type { Clock } from "@konverge/core";

/** What of a cluster outlives its process. */
export interface ClusterData {
  readonly authority: Authority;
  /** Signs the certificate by which other API servers know this one. */
  readonly frontProxy: Authority;
  /** Signs the tokens of service accounts, PEM. */
  readonly signingKey: string;
  readonly journal?: SqliteJournal;
}

/** A cluster's state and keys, kept in a folder; without one they end with the process. */
export function openData(folder: string | undefined, clock: Clock): ClusterData {
  if (folder === undefined) {
    return { authority: createAuthority(clock), frontProxy: createAuthority(clock, FRONT_PROXY), signingKey: newKey() };
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const kept = (name: string, make: () => string) => {
    const path = join(folder, name);
    if (!existsSync(path)) writeFileSync(path, make(), { mode: 0o600 });
    return readFileSync(path, "utf8");
  };
  const keptAuthority = (file: string, options: { name?: string } = {}) => {
    const key = kept(`${file}.key`, newKey);
    const cert = kept(`${file}.crt`, () => createAuthority(clock, { ...options, key }).cert);
    return new Authority({ cert, key }, clock);
  };
  return {
    authority: keptAuthority("ca"),
    frontProxy: keptAuthority("front-proxy-ca", FRONT_PROXY),
    signingKey: kept("service-accounts.key", newKey),
    journal: new SqliteJournal({ path: join(folder, "state.db") }),
  };
}

const FRONT_PROXY = { name: "front-proxy-ca" };

function newKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  return privateKey.export({ type: "pkcs8", format: "pem" }) as string;
}
