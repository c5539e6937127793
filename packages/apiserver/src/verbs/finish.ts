import { type AnyObject, type ApiResponse, stringifyJson } from "@konverge/core";
import type { Entry } from "../storage/collection.ts";
import { type Call, objectOf } from "./call.ts";

const JSON_HEADERS = { "content-type": "application/json" };

export function jsonResponse(
  status: number,
  body: unknown,
  headers: Record<string, string | string[]> = {},
): ApiResponse {
  return { status, headers: { ...JSON_HEADERS, ...headers }, body: `${stringifyJson(body)}\n` };
}

/** Answers with a stored object in the version asked for. The stored text goes out as it is where versions agree. */
export async function entryResponse(call: Call, entry: Entry, status = 200): Promise<ApiResponse> {
  await call.store.durable();
  if (call.version.version === call.definition.storageVersion)
    return { status, headers: { ...JSON_HEADERS }, body: `${entry.text}\n` };
  return jsonResponse(status, await inVersion(call, objectOf(entry)));
}

/** An object that is not (or not yet) stored, in the version asked for. */
export async function objectResponse(call: Call, object: AnyObject, status = 200): Promise<ApiResponse> {
  return jsonResponse(status, await inVersion(call, object));
}

async function inVersion(call: Call, object: AnyObject): Promise<AnyObject> {
  const [converted] = await call.definition.convert([object], call.version.version);
  return converted!;
}
