import { timingSafeEqual } from "node:crypto";
import { type AnyObject, parseJson } from "@konverge/core";
import type { Store } from "../../storage/store.ts";
import { serviceAccountGroups, serviceAccountUserName, type User } from "../user.ts";

/** Tokens in Secrets have this issuer, no audience and no end: they last as long as their Secret holds them. */
export const LEGACY_ISSUER = "kubernetes/serviceaccount";

/** The Secret that holds a token, and the account it is for. */
export interface LegacySecret {
  readonly namespace: string;
  readonly secretName: string;
  readonly serviceAccount: { readonly name: string; readonly uid: string };
}

const PREFIX = "kubernetes.io/serviceaccount/";

/** What such a token says, besides its issuer. */
export function legacyClaims({ namespace, secretName, serviceAccount }: LegacySecret): object {
  return {
    [`${PREFIX}namespace`]: namespace,
    [`${PREFIX}secret.name`]: secretName,
    [`${PREFIX}service-account.name`]: serviceAccount.name,
    [`${PREFIX}service-account.uid`]: serviceAccount.uid,
    sub: serviceAccountUserName(namespace, serviceAccount.name),
  };
}

/** Judges the claims of a token whose signature is right. */
export function checkLegacyClaims(
  store: Store,
  token: string,
  claims: Record<string, unknown>,
): { error: string; user?: undefined } | { user: User; error?: undefined } {
  const claim = (name: string) => {
    const value = claims[name];
    return typeof value === "string" ? value : "";
  };
  const [namespace, secretName] = [claim(`${PREFIX}namespace`), claim(`${PREFIX}secret.name`)];
  const [name, uid] = [claim(`${PREFIX}service-account.name`), claim(`${PREFIX}service-account.uid`)];
  if (claim("sub") === "") return { error: "sub claim is missing" };
  if (namespace === "") return { error: "namespace claim is missing" };
  if (secretName === "") return { error: "secretName claim is missing" };
  if (name === "") return { error: "serviceAccountName claim is missing" };
  if (uid === "") return { error: "serviceAccountUID claim is missing" };
  if (claim("sub") !== serviceAccountUserName(namespace, name)) return { error: "sub claim is invalid" };

  const read = (resource: string, key: string) => {
    const entry = store.collection(resource).get(key);
    return entry && (parseJson(entry.text) as AnyObject);
  };
  const secret = read("/secrets", `${namespace}/${secretName}`);
  if (!secret || secret.metadata.deletionTimestamp) return { error: "Token has been invalidated" };
  const copy = (secret.data as Record<string, string> | undefined)?.["token"] ?? "";
  if (!sameBytes(Buffer.from(copy, "base64"), Buffer.from(token))) {
    return { error: "Token does not match server's copy" };
  }
  const account = read("/serviceaccounts", `${namespace}/${name}`);
  if (!account) return { error: `serviceaccounts "${name}" not found` };
  if (account.metadata.deletionTimestamp) return { error: `ServiceAccount ${namespace}/${name} has been deleted` };
  if (account.metadata.uid !== uid) {
    return { error: `ServiceAccount UID (${account.metadata.uid}) does not match claim (${uid})` };
  }
  return { user: { name: serviceAccountUserName(namespace, name), uid, groups: serviceAccountGroups(namespace) } };
}

/** Takes as long for bytes that differ early as for those that differ late. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
