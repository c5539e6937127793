/**
 * Roles, and databases with their schemas and extensions, as a user declares them in `spec.roles` and `spec.databases`.
 *
 * Flow: the operator writes them into one file, the Secret `<name>-declared`. The primary carries it out (`declared.sh`), reconciles it again
 * every half minute, so that what was changed by hand is repaired, and reports what failed.
 *
 * Guarantees
 * - The server gets verifiers, not passwords. A password that stays keeps its verifier.
 * - Names and texts reach SQL only as JSON and are quoted there by PostgreSQL itself.
 * - Nothing is dropped but what is declared as absent.
 */
import { createHash } from "node:crypto";
import { Secret, type Volume, type VolumeMount } from "konverge/kinds";
import type { SecretSource } from "konverge/time";
import type { Database } from "./database.ts";
import { declaredName, metadataOf } from "./names.ts";
import { isVerifier, scramVerifier, verifies } from "./scram.ts";

const FILE = "declared.json";
/** In the same Secret: the version of each Secret that a verifier was computed from. */
const VERSIONS = "versions.json";
const VOLUME = "declared";
export const DECLARED_FOLDER = "/declared";

const SALT_LENGTH = 22;

type Role = NonNullable<Database["spec"]["roles"]>[number];

/** What the file is made with. */
export interface DeclaredContext {
  /** The Secret as it is. */
  readonly live: Secret | undefined;
  /** The Secret of a password. */
  readonly secretOf: (name: string) => Secret | undefined;
  readonly secrets: SecretSource;
}

/** Whether a Database declares roles or databases. */
export const declaresAny = ({ spec }: Database) => (spec.roles?.length ?? 0) + (spec.databases?.length ?? 0) > 0;

/** The Secret with what the primary carries out. */
export function declaredSecretFor(database: Database, context: DeclaredContext): ReturnType<typeof Secret.draft>[] {
  if (!declaresAny(database)) return [];
  const { roles = [], databases = [] } = database.spec;
  const known = passwordsIn(context.live);
  const versions: Record<string, string> = {};
  const rendered = roles.map((role) => {
    const { passwordSecret, disablePassword, validUntil, ...attributes } = role;
    const verifier = verifierFor(role, known, context);
    if (verifier) versions[role.name] = verifier.version;
    return {
      ...attributes,
      validUntil: validUntil ?? "infinity",
      ...(verifier && { password: verifier.text }),
      ...(disablePassword && { password: null }),
    };
  });
  const own = database.spec.application;
  const owned = databases.map((one) => ({
    ...one,
    ...(one.owner === undefined && own && { owner: own.owner ?? own.database }),
  }));
  const data = {
    [FILE]: `${JSON.stringify({ roles: rendered, databases: owned })}\n`,
    [VERSIONS]: JSON.stringify(versions),
  };
  return [
    Secret.draft({
      metadata: metadataOf(database, declaredName(database)),
      type: "Opaque",
      data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")])),
    }),
  ];
}

/** How the primary reports what it has carried out. */
export function declaredDigest(secret: Secret | undefined): string | undefined {
  const text = secret?.data?.[FILE];
  return text === undefined ? undefined : createHash("sha256").update(Buffer.from(text, "base64")).digest("hex");
}

/** Why the password of a role is not known, if that is so. */
export function passwordProblem({ name, passwordSecret }: Role, secretOf: DeclaredContext["secretOf"]) {
  if (!passwordSecret) return undefined;
  const secret = secretOf(passwordSecret.name);
  if (!secret) return `there is no Secret ${passwordSecret.name}: create it, with the key password`;
  if (!textOf(secret, "password")) return `the Secret ${passwordSecret.name} has no key password`;
  const username = textOf(secret, "username");
  if (username !== undefined && username !== name)
    return `the Secret ${passwordSecret.name} is of the user ${username}: its username must be ${name}, or absent`;
  return undefined;
}

interface Verifier {
  readonly text: string;
  readonly version: string;
}

/** The verifier of a role's password. One that is known stays as long as it is right: another one would be another password. */
function verifierFor(
  role: Role,
  known: ReadonlyMap<string, Verifier>,
  { secretOf, secrets }: DeclaredContext,
): Verifier | undefined {
  const { name, passwordSecret } = role;
  if (!passwordSecret || passwordProblem(role, secretOf) !== undefined) return undefined;
  const { metadata, data } = secretOf(passwordSecret.name)!;
  const version = `${metadata.uid} ${metadata.resourceVersion}`;
  const before = known.get(name);
  if (before?.version === version) return before;
  const password = Buffer.from(data?.["password"] ?? "", "base64").toString();
  if (isVerifier(password)) return { text: password, version };
  if (before && verifies(before.text, password)) return { text: before.text, version };
  return { text: scramVerifier(password, Buffer.from(secrets.text(SALT_LENGTH))), version };
}

/** The verifiers that are in use, by role. What was edited by hand is computed again. */
function passwordsIn(live: Secret | undefined): ReadonlyMap<string, Verifier> {
  try {
    const { roles } = JSON.parse(textOf(live, FILE) ?? "{}") as { roles?: { name: string; password?: unknown }[] };
    const versions = JSON.parse(textOf(live, VERSIONS) ?? "{}") as Record<string, string>;
    return new Map(
      (roles ?? []).flatMap(({ name, password }) => {
        const version = versions[name];
        if (typeof password !== "string" || typeof version !== "string") return [];
        return [[name, { text: password, version }]];
      }),
    );
  } catch {
    return new Map();
  }
}

function textOf(secret: Secret | undefined, key: string): string | undefined {
  const value = secret?.data?.[key];
  return value ? Buffer.from(value, "base64").toString() : undefined;
}

/** Always mounted, so that the first role restarts no server. */
export const declaredMounts = (): VolumeMount[] => [{ name: VOLUME, mountPath: DECLARED_FOLDER, readOnly: true }];

export function declaredVolumes(database: Database): Volume[] {
  const items = [{ key: FILE, path: FILE }];
  return [{ name: VOLUME, secret: { secretName: declaredName(database), optional: true, items } }];
}
