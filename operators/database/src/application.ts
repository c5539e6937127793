import { type EnvVar, Secret, type Volume, type VolumeMount } from "konverge/kinds";
import type { SecretSource } from "konverge/time";
import type { Database } from "./database.ts";
import type { Engine } from "./engines.ts";
import { applicationSecretName, metadataOf } from "./names.ts";

const LENGTH = 24;
const FOLDER = "/application";
const VOLUME = "application";

/**
 * The Secret of the application's role, with what clients of PostgreSQL expect. An existing password stays, so that it can be set
 * in advance; the primary sets what it finds there.
 */
export function applicationSecretFor(
  database: Database,
  engine: Engine,
  { live, secrets }: { readonly live: Secret | undefined; readonly secrets: SecretSource },
) {
  const { application } = database.spec;
  if (!application) return [];
  const dbname = application.database;
  const username = application.owner ?? dbname;
  const known = live?.data?.["password"];
  const password = known ? Buffer.from(known, "base64").toString() : secrets.text(LENGTH);
  const host = `${database.metadata.name}.${database.metadata.namespace}.svc`;
  const port = String(engine.port);
  const encoded = encodeURIComponent(password);
  // A backslash before what separates the fields of a line.
  const escaped = password.replaceAll(/[\\:]/g, "\\$&");
  const data = {
    username,
    password,
    dbname,
    host,
    port,
    uri: `postgresql://${username}:${encoded}@${host}:${port}/${dbname}`,
    "jdbc-uri": `jdbc:postgresql://${host}:${port}/${dbname}?user=${username}&password=${encoded}`,
    pgpass: `${host}:${port}:${dbname}:${username}:${escaped}\n`,
  };
  return [
    Secret.draft({
      metadata: metadataOf(database, applicationSecretName(database)),
      // The type of a Secret never changes.
      type: live?.type ?? "kubernetes.io/basic-auth",
      data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")])),
    }),
  ];
}

/** How servers learn the names and the password. */
export function applicationEnvironment({ spec }: Database): EnvVar[] {
  return spec.application ? [{ name: "APPLICATION", value: FOLDER }] : [];
}

export function applicationMounts({ spec }: Database): VolumeMount[] {
  return spec.application ? [{ name: VOLUME, mountPath: FOLDER, readOnly: true }] : [];
}

export function applicationVolumes(database: Database): Volume[] {
  if (!database.spec.application) return [];
  const items = ["username", "password", "dbname"].map((key) => ({ key, path: key }));
  return [{ name: VOLUME, secret: { secretName: applicationSecretName(database), items } }];
}
