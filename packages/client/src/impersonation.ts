import type { Transport } from "@konverge/core";

/** A user to impersonate. The client's own user needs the permission to do so. */
export interface ImpersonatedUser {
  user: string;
  groups?: readonly string[];
  uid?: string;
  extra?: Readonly<Record<string, readonly string[]>>;
}

/** A transport whose requests impersonate another user. */
export function impersonatingTransport(transport: Transport, identity: ImpersonatedUser): Transport {
  const headers: Record<string, string | readonly string[]> = { "impersonate-user": identity.user };
  if (identity.uid) headers["impersonate-uid"] = identity.uid;
  if (identity.groups?.length) headers["impersonate-group"] = identity.groups;
  for (const [key, values] of Object.entries(identity.extra ?? {})) {
    headers[`impersonate-extra-${escapeKey(key)}`] = values;
  }
  return (request) => transport({ ...request, headers: { ...request.headers, ...headers } });
}

/** Extra keys become header names: what a header name cannot hold is percent-encoded. */
function escapeKey(key: string): string {
  return key
    .toLowerCase()
    .replace(/[^!#$&'*+\-.^_`|~0-9a-z]/g, (character) =>
      [...new TextEncoder().encode(character)]
        .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
        .join(""),
    );
}
