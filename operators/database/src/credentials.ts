import { createHash } from "node:crypto";
import { Secret } from "konverge/kinds";
import { durationMs, type SecretSource } from "konverge/time";
import type { Database } from "./database.ts";
import { ROTATE } from "./database-children.ts";
import type { Engine } from "./engines.ts";
import { metadataOf, secretName } from "./names.ts";
import { hasSuperuserAccess } from "./superuser.ts";

const LENGTH = 24;
/** On the Secret: since when its password is used. */
const SINCE = "databases.example.com/password-since";

/** What a Secret is made with. */
export interface CredentialsContext {
  readonly live: Secret | undefined;
  readonly secrets: SecretSource;
  readonly now: number;
  /** The digest of the password that the primary reports; undefined while it does not answer. */
  readonly reportedDigest: string | undefined;
  /** The Secret of the application's role, if there is one. */
  readonly application?: Secret | undefined;
  /** The Secret of the Database that this one follows: its servers have those passwords. */
  readonly source?: Secret | undefined;
}

/**
 * The credentials. Existing values of the Secret stay, so that a password can be set in advance; what it lacks is made.
 * Servers set what they find there.
 *
 * Rotation: a new password is first written beside the present one, as `next-password`. The primary sets it, and says
 * so. Only then it becomes the password. Whenever the operator dies, the Secret has the password that the server knows,
 * under one of the two names, and the next process goes on from there.
 */
export function credentialsFor(database: Database, engine: Engine, context: CredentialsContext) {
  const { live, secrets, now, reportedDigest } = context;
  const newPassword = () => secrets.text(LENGTH);
  const known = (key: string) => textOf(context.source, key) ?? textOf(live, key);
  const present = known("password") ?? newPassword();
  const next = context.source
    ? undefined
    : (known("next-password") ?? (isRotationDue(database, engine, context) ? newPassword() : undefined));
  const isSet = next !== undefined && reportedDigest === passwordDigest(next);
  const password = isSet ? next : present;
  const isNew = isSet || known("password") === undefined;
  const asked = isNew ? database.metadata.annotations?.[ROTATE] : live?.metadata.annotations?.[ROTATE];
  const since = Date.parse(isNew ? "" : (live?.metadata.annotations?.[SINCE] ?? ""));
  const host = `${database.metadata.name}.${database.metadata.namespace}.svc`;
  const data = {
    username: engine.administrator,
    password,
    host,
    port: String(engine.port),
    ...(hasSuperuserAccess(database) && {
      uri: `${engine.name}://${engine.administrator}:${password}@${host}:${engine.port}`,
    }),
    ...(next !== undefined && !isSet && { "next-password": next }),
    ...(engine.name === "postgres" && {
      "replication-password": known("replication-password") ?? newPassword(),
      "monitor-password": known("monitor-password") ?? newPassword(),
      "userlist.txt": hasSuperuserAccess(database)
        ? userLine(engine.administrator, password)
        : userLine(textOf(context.application, "username"), textOf(context.application, "password")),
    }),
  };
  return Secret.draft({
    metadata: {
      ...metadataOf(database, secretName(database)),
      annotations: {
        // What is no time, a rotation could not be counted from.
        [SINCE]: new Date(Number.isNaN(since) ? now : since).toISOString(),
        ...(asked !== undefined && { [ROTATE]: asked }),
      },
    },
    type: "Opaque",
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")])),
  });
}

/** A user as PgBouncer knows it. */
const userLine = (name: string | undefined, password = "") =>
  name === undefined ? "" : `"${name}" "${password.replaceAll('"', '""')}"\n`;

function textOf(secret: Secret | undefined, key: string): string | undefined {
  const value = secret?.data?.[key];
  return value ? Buffer.from(value, "base64").toString() : undefined;
}

/** In the format of `status.sh`. */
export function passwordDigest(password: string): string {
  return createHash("sha256").update(password).digest("hex");
}

/** Whether a password is in the Secret that the server has yet to be given. */
export function isRotating(secret: Secret | undefined): boolean {
  return secret?.data?.["next-password"] !== undefined;
}

/** A server that does not answer cannot be given another password. */
function isRotationDue(database: Database, engine: Engine, { live, now, reportedDigest }: CredentialsContext): boolean {
  if (!live?.data?.["password"] || reportedDigest === undefined || engine.name !== "postgres") return false;
  const { annotations = {} } = live.metadata;
  const asked = database.metadata.annotations?.[ROTATE];
  if (asked !== undefined && asked !== annotations[ROTATE]) return true;
  const every = database.spec.credentials?.rotateEvery;
  const since = Date.parse(annotations[SINCE] ?? "");
  return every !== undefined && !Number.isNaN(since) && now - since >= durationMs(every);
}
