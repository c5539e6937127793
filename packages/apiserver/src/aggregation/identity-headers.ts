import type { HeaderMap } from "@konverge/core";
import type { User } from "../auth/user.ts";

const USER = "x-remote-user";
const UID = "x-remote-uid";
const GROUP = "x-remote-group";
const EXTRA = "x-remote-extra-";

/** The identity of this server's own requests. */
export const AGGREGATOR: User = { name: "system:kube-aggregator", groups: ["system:masters"] };

/** Headers that concern one connection, and those by which a client claims an identity. */
const NOT_PASSED_ON = new Set([
  "connection",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "content-length",
  "authorization",
  USER,
  UID,
  GROUP,
]);

/** The headers that name the user of a request to another server. */
export function identityHeaders({ name, uid, groups, extra = {} }: User): HeaderMap {
  const headers: HeaderMap = { [USER]: name, [GROUP]: [...groups] };
  if (uid) headers[UID] = uid;
  for (const [key, values] of Object.entries(extra)) headers[`${EXTRA}${escapeKey(key)}`] = [...values];
  return headers;
}

/** A request's headers as they go on: without what the client says about who it is, and without the connection's own. */
export function passedOn(headers: HeaderMap): HeaderMap {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !NOT_PASSED_ON.has(name) && !name.startsWith(EXTRA)),
  );
}

/** Keys of extras may have characters that header names may not; those are percent-encoded, and so is the percent sign. */
function escapeKey(key: string): string {
  let escaped = "";
  for (const byte of Buffer.from(key)) {
    const character = String.fromCharCode(byte);
    escaped += /[A-Za-z0-9!#$&'*+.^_`|~-]/.test(character)
      ? character
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return escaped.toLowerCase();
}
