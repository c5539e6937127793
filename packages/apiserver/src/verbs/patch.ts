import { type AnyObject, ApiError, type ApiResponse, badRequest, headerOf, parseJson } from "@konverge/core";
import { applyJsonPatch, applyMergePatch, applyStrategicMergePatch, decodeJsonPatch } from "@konverge/schema/patch";
import { bodyText } from "../http/bodies.ts";
import { applyObject } from "./apply.ts";
import type { Call } from "./call.ts";
import { decodeInto } from "./decode.ts";
import { entryResponse, objectResponse } from "./finish.ts";
import { updateObject, type Written } from "./write.ts";

const JSON_PATCH = "application/json-patch+json";
const MERGE_PATCH = "application/merge-patch+json";
const STRATEGIC_PATCH = "application/strategic-merge-patch+json";
const APPLY_PATCH = "application/apply-patch+yaml";

/** Changes an object by one of the four kinds of patch. */
export async function patch(call: Call): Promise<ApiResponse> {
  const type = (headerOf(call.request.headers, "content-type") ?? "").split(";")[0]!.trim();
  const written = await patchObject(call, type);
  const status = written.created ? 201 : 200;
  return written.entry ? entryResponse(call, written.entry, status) : objectResponse(call, written.object, status);
}

async function patchObject(call: Call, type: string): Promise<Written> {
  if (type === APPLY_PATCH) return applyObject(call);
  const change = changeOf(call, type);
  return updateObject(call, (old) => decodeInto(call, change(old)));
}

function changeOf(call: Call, type: string): (old: AnyObject) => AnyObject {
  switch (type) {
    case JSON_PATCH: {
      const { operations } = decodeJsonPatch(patchBody(call));
      return (old) => applyJsonPatch(old, operations);
    }
    case MERGE_PATCH: {
      const body = patchBody(call);
      return (old) => applyMergePatch(old, body);
    }
    case STRATEGIC_PATCH:
      if (!call.definition.custom) {
        const body = patchBody(call);
        return (old) => applyStrategicMergePatch(old, body, call.version.schema);
      }
  }
  throw unsupportedType(call);
}

function patchBody(call: Call): unknown {
  try {
    return parseJson(bodyText(call.request));
  } catch (error) {
    throw badRequest(`error decoding patch: ${(error as Error).message}`);
  }
}

function unsupportedType(call: Call): ApiError {
  const accepted = [JSON_PATCH, MERGE_PATCH, ...(call.definition.custom ? [] : [STRATEGIC_PATCH]), APPLY_PATCH];
  return new ApiError({
    code: 415,
    reason: "UnsupportedMediaType",
    message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  });
}
