import { ApiError, badRequest } from "@konverge/core";
import type { Services } from "../call/call.ts";
import { DecodeError } from "../codec/decode-error.ts";
import { parseJsonText } from "../codec/json-text.ts";
import type { Store } from "../storage/store.ts";

/** Where a paged list goes on. */
export interface ContinueToken {
  /** The revision that all pages show; -1 for "whatever is there now". */
  readonly revision: number;
  /** The first key that may follow, relative to what is listed. */
  readonly start: string;
}

/** The token that goes on after a key, in the form in which a real server writes it. */
export function tokenAfter(revision: number, key: string): string {
  return writeToken({ revision, start: `/${key}\0` });
}

function writeToken({ revision, start }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: revision, start })).toString("base64url");
}

/** Reads a token; throws 400 for one that no server has written. */
export function readToken(text: string): ContinueToken {
  const { v, rv = 0, start = "" } = fieldsOf(text);
  if (v !== "meta.k8s.io/v1") {
    throw notValid(`server does not recognize this encoded version ${v ?? ""}`);
  }
  if (rv === 0) throw notValid("incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  if (start === "") throw notValid("encoded start key empty (version meta.k8s.io/v1)");
  const key = String(start).replace(/^\//, "");
  if (key.split("/").some((part) => part === "" || part === "." || part === "..")) throw notValid(String(start));
  return { revision: Number(rv), start: key };
}

function fieldsOf(text: string): { v?: unknown; rv?: unknown; start?: unknown } {
  const character = text.search(/[^A-Za-z0-9_-]/);
  // A single character at the end is no byte.
  const illegal = character < 0 && text.length % 4 === 1 ? text.length - 1 : character;
  if (illegal >= 0) throw notValid(`illegal base64 data at input byte ${illegal}`);
  try {
    return parseJsonText(Buffer.from(text, "base64url").toString("latin1")).value as object;
  } catch (error) {
    throw error instanceof DecodeError ? notValid(error.message) : error;
  }
}

function notValid(why: string): ApiError {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`);
}

/** When the first token of each revision was handed out, by store. */
const issued = new WeakMap<Store, Map<number, number>>();

type Timed = Pick<Services, "store" | "clock">;

/** Remembers that a token for this revision is handed out. */
export function noteToken({ store, clock }: Timed, revision: number): void {
  const times = issued.get(store) ?? new Map<number, number>();
  issued.set(store, times);
  for (const known of times.keys()) if (known < store.compacted) times.delete(known);
  if (!times.has(revision)) times.set(revision, clock.monotonic());
}

/**
 * Whether a token is older than the past that is kept. Where nothing is written the store forgets nothing; a real
 * one is compacted all the same.
 */
export function isOutdated({ store, clock }: Timed, { revision }: ContinueToken): boolean {
  const since = issued.get(store)?.get(revision);
  return since !== undefined && clock.monotonic() - since > store.historyMs;
}

/** A token whose revision is forgotten: the answer carries one that goes on with what is there now. */
export function tokenExpired({ start }: ContinueToken): ApiError {
  return new ApiError({
    code: 410,
    reason: "Expired",
    message:
      "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
    metadata: { continue: writeToken({ revision: -1, start }) },
  });
}
