import { createHash } from "node:crypto";
import type { Clock } from "@konverge/core";
import { Secret } from "@konverge/kinds";
import type { Child } from "../apply/child.ts";

/** Characters of a password. */
const LENGTH = 24;
/** On the Secret: since when its password is used. */
const SINCE = "konverge.dev/password-since";
/** On the Secret: the request that led to its password. */
const REQUESTED = "konverge.dev/password-request";

/** Options of {@link rotatedPassword}. */
export interface RotatedPasswordOptions {
  /** Of the reconcile's context. */
  readonly clock: Pick<Clock, "now" | "secrets">;
  /** Milliseconds after which a password is replaced. Default: never. */
  readonly rotateEvery?: number | undefined;
  /** Replaces the password whenever it changes: the value of an annotation, for example. */
  readonly request?: string | undefined;
}

/** A password that another system is given, and its Secret. */
export interface RotatedPassword {
  /**
   * The password to set in the other system. Undefined while the Secret does not have it: return the Secret and reconcile again at
   * once (`requeueAfter: 1`), or a crash would lose a password that is in use.
   */
  readonly toSet: string | undefined;
  /** A digest of `toSet`, to compare with what the other system has. */
  readonly digest: string | undefined;
  /** The Secret as a child. With `isSet`, the other system has `toSet` now: it becomes the password of the Secret. */
  secret(
    metadata: { readonly name: string; readonly namespace?: string },
    data: Record<string, string>,
    isSet: boolean,
  ): Child<Secret>;
}

/**
 * Makes a password, keeps it in a Secret and rotates it:
 *
 * ```ts
 * const password = rotatedPassword(observed(secret), { clock, rotateEvery: 30 * DAY });
 * if (password.toSet === undefined) return { children: [password.secret(metadata, {}, false)], requeueAfter: 1 };
 * await server.setPassword(name, password.toSet);
 * return { children: [password.secret(metadata, { username: name }, true)] };
 * ```
 *
 * Flow: a new password is first written beside the one in use, as `next-password`. The other system gets it. Only then it becomes
 * `password`.
 *
 * Guarantees: whenever the operator dies, the Secret has the password that the other system knows, under one of the two names. A
 * `password` that is already in the Secret is kept.
 */
export function rotatedPassword(live: Secret | undefined, options: RotatedPasswordOptions): RotatedPassword {
  const { clock, request } = options;
  const present = storedValue(live, "password");
  const next = storedValue(live, "next-password");
  const isDue = present !== undefined && next === undefined && isRotationDue(live!, options);
  const made = present === undefined || isDue ? clock.secrets.text(LENGTH) : undefined;
  const toSet = made === undefined ? (next ?? present) : undefined;
  const annotations = live?.metadata.annotations ?? {};
  return {
    toSet,
    digest: toSet === undefined ? undefined : createHash("sha256").update(toSet).digest("hex"),
    secret(metadata, data, isSet) {
      const isNew = present === undefined || (isSet && next !== undefined && toSet === next);
      const password = isNew ? (toSet ?? made!) : present;
      const waiting = isNew ? undefined : (made ?? next);
      // If it was removed, the password counts as new: it must not keep its age forever.
      const isUndated = options.rotateEvery !== undefined && Number.isNaN(Date.parse(annotations[SINCE] ?? ""));
      const since = isNew || isUndated ? new Date(clock.now()).toISOString() : annotations[SINCE];
      const requested = isNew ? request : annotations[REQUESTED];
      return Secret.draft({
        metadata: {
          ...metadata,
          annotations: { ...(since && { [SINCE]: since }), ...(requested !== undefined && { [REQUESTED]: requested }) },
        },
        type: "Opaque",
        data: encoded({ ...data, password, ...(waiting !== undefined && { "next-password": waiting }) }),
      });
    },
  };
}

function isRotationDue(
  { metadata: { annotations = {} } }: Secret,
  { clock, rotateEvery, request }: RotatedPasswordOptions,
) {
  if (request !== undefined && request !== annotations[REQUESTED]) return true;
  const since = Date.parse(annotations[SINCE] ?? "");
  return rotateEvery !== undefined && !Number.isNaN(since) && clock.now() - since >= rotateEvery;
}

function storedValue(secret: Secret | undefined, key: string): string | undefined {
  const value = secret?.data?.[key];
  return value ? Buffer.from(value, "base64").toString() : undefined;
}

const encoded = (data: Record<string, string>) =>
  Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")]));
