import { type AnyObject, badRequest, isNotFound } from "@konverge/core";
import { parse } from "yaml";
import { bodyText } from "../http/bodies.ts";
import { isTrue } from "../http/request-info.ts";
import type { Call } from "./call.ts";
import { decodeInto } from "./decode.ts";
import { fieldManagerFor, managerName } from "./managed-fields.ts";
import { createObject, updateObject, type Written } from "./write.ts";

/** Server-side apply: lays the body over the object, or creates it. */
export async function applyObject(call: Call): Promise<Written> {
  const manager = managerName(call);
  const force = isTrue(call.info.query.get("force"));
  const applied = readApplied(call);
  const fields = fieldManagerFor(call);
  try {
    return await updateObject(
      call,
      (old) => decodeInto(call, fields.apply(old, applied, manager, { force }) as AnyObject),
      { ownership: false },
    );
  } catch (error) {
    if (!isNotFound(error) || call.info.subresource !== "") throw error;
    const created = fields.apply(undefined, applied, manager, { force }) as AnyObject;
    return createObject(call, decodeInto(call, created), { ownership: false });
  }
}

function readApplied(call: Call): AnyObject {
  let value: unknown;
  try {
    value = parse(bodyText(call.request));
  } catch (error) {
    throw badRequest(`error decoding YAML: ${(error as Error).message}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw badRequest("error decoding YAML: the body is not an object");
  return value as AnyObject;
}
