import { goText, goType, isObject, type JsonObject } from "@konverge/core";
import { internal } from "./refusals.ts";

/** Names with a special meaning in a strategic merge patch. */
export const DIRECTIVE = "$patch";
export const RETAIN_KEYS = "$retainKeys";
export const DELETE_FROM_LIST = "$deleteFromPrimitiveList";
export const ELEMENT_ORDER = "$setElementOrder";

/** What identifies an item: the value of its merge key or, in a list of scalars, the item itself. */
export function mergeKeyOf(item: unknown, mergeKey: string): unknown {
  if (mergeKey === "") return item;
  if (!isObject(item)) throw internal(`expected a map[string]interface {}, but received a ${received(item)}`);
  if (!Object.hasOwn(item, mergeKey)) {
    throw internal(`map: ${goText(item)} does not contain declared merge key: ${mergeKey}`);
  }
  return item[mergeKey];
}

/** A `$patch` that means nothing. */
export function unknownDirective(directive: unknown, patch: JsonObject): Error {
  const text =
    typeof directive === "string"
      ? directive
      : directive === null
        ? "%!s(<nil>)"
        : `%!s(${goType(directive)}=${goText(directive)})`;
  return internal(`unknown patch type: ${text} in map: ${goText(patch)}`);
}

/** What was there instead of what was expected: Go has no type for nothing. */
export function received(value: unknown): string {
  return value === null ? "%!s(<nil>)" : goType(value);
}
