import { type ApiResponse, isNotFound } from "@konverge/core";
import type { Call } from "../call/call.ts";
import { listResponse } from "../representation/answer.ts";
import { deleteObject } from "./delete.ts";
import { readDeleteOptions } from "./delete-options.ts";
import { selectPage } from "./list.ts";
import { selectionOf } from "./selectors.ts";

/** Deletes every object that a list with the same parameters would show, and answers with that list. */
export async function deleteCollection(given: Call): Promise<ApiResponse> {
  // A selector that cannot be parsed is reported before errors of the deletion.
  selectionOf(given);
  const options = readDeleteOptions(given);
  const call = { ...given, dryRun: (options.dryRun?.length ?? 0) > 0 };
  const { metadata, entries } = await selectPage(call);
  for (const entry of entries) {
    const slash = entry.key.indexOf("/");
    const namespace = slash < 0 ? "" : entry.key.slice(0, slash);
    const name = entry.key.slice(slash + 1);
    try {
      await deleteObject({ ...call, info: { ...call.info, namespace, name } }, options);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return listResponse(call, metadata, entries);
}
