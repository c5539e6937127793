import { type ApiError, isInvalid } from "@konverge/core";
import { isObject, type JsonObject } from "./stored-value.ts";

/**
 * A merge patch without the fields for which a server refused an apply, though the draft does not have them. They are left
 * from another choice that somebody made, such as `rollingUpdate` of a strategy that is to be OnDelete: nobody but the server
 * owns them, so no apply removes them, and they may not be there beside what is wanted. The patch makes the choice and takes
 * them away at once. Undefined if there are none such.
 */
export function withoutLeftOver(error: unknown, desired: object, live: object): JsonObject | undefined {
  if (!isInvalid(error)) return undefined;
  const patch: JsonObject = {};
  for (const { field = "" } of (error as ApiError).details?.causes ?? []) {
    const names = field.split(".");
    const last = names.pop();
    // Ways through lists are not followed: items are replaced as wholes by such a patch.
    if (last === undefined || names.length === 0 || field.includes("[")) continue;
    const [wanted, there] = [at(desired, names), at(live, names)];
    if (!wanted || !there || last in wanted || !(last in there)) continue;
    let target = patch;
    for (const name of names) {
      if (!isObject(target[name])) target[name] = {};
      target = target[name] as JsonObject;
    }
    Object.assign(target, wanted, { [last]: null });
  }
  return Object.keys(patch).length > 0 ? patch : undefined;
}

function at(value: unknown, names: readonly string[]): JsonObject | undefined {
  let part = value;
  for (const name of names) part = isObject(part) ? part[name] : undefined;
  return isObject(part) ? part : undefined;
}
