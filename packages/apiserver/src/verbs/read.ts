import { type ApiResponse, notFound } from "@konverge/core";
import { type Call, currentEntry } from "./call.ts";
import { entryResponse } from "./finish.ts";

export function get(call: Call): Promise<ApiResponse> {
  const entry = currentEntry(call);
  if (!entry) throw notFound(call.definition, call.info.name);
  return entryResponse(call, entry);
}
