import { ApiError, type ApiResponse, badRequest, notFound } from "@konverge/core";
import { type Call, currentEntry } from "../call/call.ts";
import { isTrue } from "../http/query.ts";
import { entryResponse } from "../representation/answer.ts";
import { revisionOf, versionProblem, waitFor } from "./resource-version.ts";

/** Answers a GET of one object. */
export async function get(call: Call): Promise<ApiResponse> {
  const { query } = call.info;
  if (isTrue(query.get("export"))) {
    throw badRequest("the export parameter, deprecated since v1.14, is no longer supported");
  }
  const version = query.get("resourceVersion") ?? "";
  const revision = revisionOf(version);
  if (revision === undefined) throw new ApiError({ code: 500, message: versionProblem(version) });
  await waitFor(call, revision);
  const entry = currentEntry(call);
  if (!entry) throw notFound(call.definition, call.info.name);
  return entryResponse(call, entry);
}
