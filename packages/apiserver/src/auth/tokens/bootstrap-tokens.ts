import { type AnyObject, type Clock, parseJson } from "@konverge/core";
import type { Store } from "../../storage/store.ts";
import type { User } from "../user.ts";
import { sameBytes } from "./legacy-tokens.ts";

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

/**
 * The user of a bootstrap token: a Secret `bootstrap-token-ID` in kube-system that a new node shows to get its certificate.
 * Undefined for everything else, and for tokens that are over or not meant for authentication.
 */
export function bootstrapTokenUser(store: Store, clock: Clock, token: string): User | undefined {
  const [, id, given] = TOKEN.exec(token) ?? [];
  if (!id || !given) return undefined;
  const entry = store.collection("/secrets").get(`kube-system/bootstrap-token-${id}`);
  const secret = entry && (parseJson(entry.text) as AnyObject & { type?: string; data?: Record<string, string> });
  if (!secret?.data || secret.type !== "bootstrap.kubernetes.io/token" || secret.metadata.deletionTimestamp) {
    return undefined;
  }
  const value = (key: string) => Buffer.from(secret.data?.[key] ?? "", "base64").toString();
  if (!sameBytes(Buffer.from(value("token-secret")), Buffer.from(given)) || value("token-id") !== id) return undefined;
  if (value("usage-bootstrap-authentication") !== "true") return undefined;
  const expiration = value("expiration");
  // What cannot be read as a time is over.
  if (expiration !== "" && !(Date.parse(expiration) > clock.now())) return undefined;
  const extra = value("auth-extra-groups");
  const groups = extra === "" ? [] : [...new Set(extra.split(","))].sort();
  if (!groups.every((group) => GROUP.test(group))) return undefined;
  return { name: `system:bootstrap:${id}`, groups: ["system:bootstrappers", ...groups] };
}
