import { type ApiError, isInvalid, isObject, type JsonObject } from "@konverge/core";

/**
 * A merge patch that sets a choice again and removes what is left of another one: a server refused an apply because of
 * an object that the draft does not have, such as `rollingUpdate` beside a strategy that is to be Recreate. It came
 * with the choice that another client made; no apply removes it, and it must not stay. Undefined if there is none such.
 *
 * Only objects count as left over: a number or text that is refused (an autoscaler's replicas) is another client's
 * decision.
 */
export function withoutLeftOver(error: unknown, desired: object, live: object): JsonObject | undefined {
  if (!isInvalid(error)) return undefined;
  const patch: JsonObject = {};
  for (const { field = "" } of (error as ApiError).details?.causes ?? []) {
    const names = field.split(".");
    const last = names.pop();
    // A merge patch replaces lists as wholes, with all that others have in them: no way leads through one.
    if (last === undefined || names.length === 0 || field.includes("[")) continue;
    const [wanted, there] = [at(desired, names), at(live, names)];
    if (!wanted || !there || last in wanted || !isObject(there[last])) continue;
    let target = patch;
    for (const name of names) {
      if (!isObject(target[name])) target[name] = {};
      target = target[name] as JsonObject;
    }
    for (const name in wanted) if (typeof wanted[name] !== "object") target[name] = wanted[name];
    target[last] = null;
  }
  return Object.keys(patch).length > 0 ? patch : undefined;
}

function at(value: unknown, names: readonly string[]): JsonObject | undefined {
  let part = value;
  for (const name of names) part = isObject(part) ? part[name] : undefined;
  return isObject(part) ? part : undefined;
}
