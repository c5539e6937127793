import type { ApiResponse } from "@konverge/core";
import type { Call } from "../call/call.ts";
import { writeParameters } from "../http/query.ts";
import { certificateApproval } from "../resources/strategies/certificates.ts";
import { readBody } from "../verbs/body.ts";
import { writtenResponse } from "../verbs/dispatch.ts";
import { get } from "../verbs/get.ts";
import { checkName } from "../verbs/metadata.ts";
import { patchObject } from "../verbs/patch.ts";
import { updateObject } from "../verbs/update.ts";

/** Requests to `certificatesigningrequests/NAME/approval`. */
export async function approve(given: Call): Promise<ApiResponse> {
  if (given.info.verb === "get") return get(given);
  const strategy = { ...given.definition.strategy, ...certificateApproval };
  const call: Call = { ...given, definition: { ...given.definition, strategy } };
  if (call.info.verb === "patch") return writtenResponse(call, await patchObject(call));
  const { dryRun, fieldValidation } = writeParameters(call.info.query, "UpdateOptions");
  const draft = readBody(call, fieldValidation);
  checkName(call, draft.metadata);
  const put: Call = { ...call, dryRun };
  return writtenResponse(put, await updateObject(put, () => draft, { uid: draft.metadata.uid }));
}
