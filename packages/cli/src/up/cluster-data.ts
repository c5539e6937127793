import { generateKeyPairSync } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Authority, createAuthority, type Durability, SqliteJournal } from "@konverge/apiserver";
import type { Clock } from "@konverge/core";
import { makeFolder, unusable } from "../make-folder.ts";
import { UsageError } from "../usage-error.ts";

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
export function openData(folder: string | undefined, clock: Clock, durability: Durability = "process"): ClusterData {
  if (folder === undefined) {
    return { authority: createAuthority(clock), frontProxy: createAuthority(clock, FRONT_PROXY), signingKey: newKey() };
  }
  makeFolder(folder, `--data ${folder}`, 0o700);
  // Only one process at a time has the journal: no other process creates keys.
  const journal = new SqliteJournal({ path: join(folder, "state.db"), durability });
  try {
    return { ...keptKeys(folder, clock), journal };
  } catch (error) {
    journal.close();
    throw error;
  }
}

function keptKeys(folder: string, clock: Clock): Omit<ClusterData, "journal"> {
  const kept = (name: string, make: () => string) => {
    const path = join(folder, name);
    try {
      if (!existsSync(path)) writeWhole(path, make());
      return readFileSync(path, "utf8");
    } catch (error) {
      throw unusable(`--data ${folder}`, error);
    }
  };
  const keptAuthority = (file: string, options: { name?: string } = {}) => {
    const key = kept(`${file}.key`, newKey);
    const cert = kept(`${file}.crt`, () => createAuthority(clock, { ...options, key }).cert);
    try {
      return new Authority({ cert, key }, clock);
    } catch (error) {
      throw new UsageError(
        `--data ${folder}: ${file}.crt and ${file}.key are not a certificate and its key: restore them, or remove both`,
        { cause: error },
      );
    }
  };
  return {
    authority: keptAuthority("ca"),
    frontProxy: keptAuthority("front-proxy-ca", FRONT_PROXY),
    signingKey: kept("service-accounts.key", newKey),
  };
}

/** Half a key, left behind by a full disk, would be taken for a whole one the next time. */
function writeWhole(path: string, text: string): void {
  const draft = `${path}.new`;
  try {
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

const FRONT_PROXY = { name: "front-proxy-ca" };

function newKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  return privateKey.export({ type: "pkcs8", format: "pem" }) as string;
}
