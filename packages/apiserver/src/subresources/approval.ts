import type { AnyObject, ApiResponse } from "@konverge/core";
import { writeParameters } from "../http/query.ts";
import type { StrategyContext } from "../resources/strategy.ts";
import { readBody } from "../verbs/body.ts";
import type { Call } from "../verbs/call.ts";
import { writtenResponse } from "../verbs/dispatch.ts";
import { get } from "../verbs/get.ts";
import { checkName } from "../verbs/metadata.ts";
import { patchObject } from "../verbs/patch.ts";
import { updateObject } from "../verbs/update.ts";

interface Status {
  conditions?: { type: string; status: string; lastUpdateTime?: string | null; lastTransitionTime?: string | null }[];
}

/** Requests to `certificatesigningrequests/NAME/approval`: they change the conditions of the status, and nothing else. */
export async function approve(given: Call): Promise<ApiResponse> {
  if (given.info.verb === "get") return get(given);
  const { strategy } = given.definition;
  const approval = {
    ...strategy,
    statusFields: [],
    prepareForUpdate(object: AnyObject, old: AnyObject, { now }: StrategyContext) {
      const { conditions } = (object["status"] ?? {}) as Status;
      const { conditions: earlier = [] } = (old["status"] ?? {}) as Status;
      for (const condition of conditions ?? []) {
        const { type, status } = condition;
        const same = earlier.find((one) => one.type === type && one.status === status);
        condition.lastUpdateTime ??= now;
        condition.lastTransitionTime ??= same?.lastTransitionTime ?? now;
      }
      object["spec"] = old["spec"];
      object["status"] = { ...(old["status"] as object), ...(conditions && { conditions }) };
    },
  };
  const call: Call = { ...given, definition: { ...given.definition, strategy: approval } };
  if (call.info.verb === "patch") return writtenResponse(call, await patchObject(call));
  const { dryRun, fieldValidation } = writeParameters(call.info.query, "UpdateOptions");
  const draft = readBody(call, fieldValidation);
  checkName(call, draft.metadata);
  const put: Call = { ...call, dryRun };
  return writtenResponse(put, await updateObject(put, () => draft, { uid: draft.metadata.uid }));
}
