import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { ApiResponse } from "@konverge/core";

/** A compressed body, as it was before. */
export function gunzip(body: ApiResponse["body"]): AsyncIterable<Uint8Array> {
  const source = Readable.from(typeof body === "string" || body instanceof Uint8Array ? [body] : body);
  const plain = createGunzip();
  source.once("error", (error) => plain.destroy(error));
  plain.once("close", () => source.destroy());
  return source.pipe(plain);
}
