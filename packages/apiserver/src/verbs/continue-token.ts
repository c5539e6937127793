import { ApiError, badRequest } from "@konverge/core";

/** Where a paged list goes on. */
export interface ContinueToken {
  /** The revision that all pages show; -1 for "whatever is there now". */
  readonly revision: number;
  /** The last key that has been given, relative to what is listed. */
  readonly after: string;
}

/** The token in the form in which a real server writes it. */
export function writeToken({ revision, after }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: revision, start: `${after}\0` })).toString("base64url");
}

/** Reads a token; undefined when there is none. Throws 400 for one that no server has written. */
export function readToken(text: string): ContinueToken | undefined {
  if (text === "") return undefined;
  let fields: { v?: unknown; rv?: unknown; start?: unknown };
  try {
    if (!/^[A-Za-z0-9_-]*$/.test(text))
      throw new Error(`illegal base64 data at input byte ${text.search(/[^A-Za-z0-9_-]/)}`);
    fields = JSON.parse(Buffer.from(text, "base64url").toString());
  } catch (error) {
    throw badRequest(`continue key is not valid: ${(error as Error).message}`);
  }
  const { v, rv = 0, start = "" } = fields;
  if (v !== "meta.k8s.io/v1") {
    throw badRequest(`continue key is not valid: server does not recognize this encoded version ${v ?? ""}`);
  }
  if (rv === 0) {
    throw badRequest("continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  }
  if (start === "") throw badRequest("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)");
  return { revision: Number(rv), after: String(start).replace(/\0$/, "") };
}

/** A token whose revision is forgotten: the answer carries one that goes on with what is there now. */
export function tokenExpired(after: string): ApiError {
  return new ApiError({
    code: 410,
    reason: "Expired",
    message:
      "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
    metadata: { continue: writeToken({ revision: -1, after }) },
  });
}
