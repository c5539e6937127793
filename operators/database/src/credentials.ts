import type { Random } from "konverge";
import type { Secret } from "konverge/kinds";
import type { Database } from "./database.ts";
import type { Engine } from "./engines.ts";
import { metadataOf, secretName } from "./names.ts";

const LETTERS = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const LENGTH = 24;

/**
 * The administrator's credentials. A password is made once: what the Secret holds stays, whoever put it there, so that it can
 * be given beforehand.
 */
export function credentialsFor(database: Database, engine: Engine, live: Secret | undefined, random: Random): Secret {
  const known = live?.data?.["password"];
  const password = known ? Buffer.from(known, "base64").toString() : newPassword(random);
  const host = `${database.metadata.name}.${database.metadata.namespace}.svc`;
  const encode = (text: string) => Buffer.from(text).toString("base64");
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: metadataOf(database, secretName(database)),
    type: "Opaque",
    data: {
      username: encode(engine.administrator),
      password: encode(password),
      host: encode(host),
      port: encode(String(engine.port)),
      uri: encode(`${engine.name}://${engine.administrator}:${password}@${host}:${engine.port}`),
    },
  };
}

function newPassword(random: Random): string {
  return Array.from({ length: LENGTH }, () => LETTERS[Math.floor(random.next() * LETTERS.length)]).join("");
}
