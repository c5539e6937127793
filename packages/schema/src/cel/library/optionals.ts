/** Values that may be missing. Selecting with `.?` and indexing with `[?]` are the evaluator's business. */

import type { Library } from "../types/declarations.ts";
import { ListValue, PlainList, PlainMap } from "../values/collections.ts";
import { valueText } from "../values/value-text.ts";
import type { CelList } from "../values/values.ts";
import { CelError, Duration, Optional, Timestamp, Uint, type Value } from "../values/values.ts";

/** Whether a value is what its type begins with: empty, zero, false or null. Data with a schema never is. */
function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0 || value === 0n || value === "") return true;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof Duration) return value.nanos === 0n;
  if (value instanceof Timestamp) return value.seconds === -62135596800 && value.nanos === 0;
  return (value instanceof PlainList || value instanceof PlainMap) && value.size === 0;
}

function dereference(optional: Optional): Value {
  return optional.value === undefined ? new CelError("optional.none() dereference") : optional.value;
}

function unwrap(list: CelList): Value {
  const values: Value[] = [];
  for (const item of list) {
    if (!(item instanceof Optional)) return new CelError(`value ${valueText(item)} is not optional`);
    if (item.value !== undefined) values.push(item.value);
  }
  return new ListValue(values);
}

const element = (list: CelList, index: number) => (list.size === 0 ? Optional.none : new Optional(list.at(index)));

/** CEL's optional values. */
export const optionals: Library = {
  overloads: [
    ["optional_of", "optional.of(V): optional(V)", (value: Value) => new Optional(value)],
    [
      "optional_ofNonZeroValue",
      "optional.ofNonZeroValue(V): optional(V)",
      (value: Value) => (isZero(value) ? Optional.none : new Optional(value)),
    ],
    ["optional_none", "optional.none(): optional(V)", () => Optional.none],
    ["optional_value", "optional(V).value(): V", dereference],
    ["optional_hasValue", "optional(V).hasValue(): bool", (optional: Optional) => optional.value !== undefined],
    ["optional_or_optional", "optional(V).or(optional(V)): optional(V)"],
    ["optional_orValue_value", "optional(V).orValue(V): V"],
    ["select_optional_field", "_?._(dyn, string): optional(V)"],
    ["list_optindex_optional_int", "_[?_](list(V), int): optional(V)"],
    ["optional_list_optindex_optional_int", "_[?_](optional(list(V)), int): optional(V)"],
    ["map_optindex_optional_value", "_[?_](map(K, V), K): optional(V)"],
    ["optional_map_optindex_optional_value", "_[?_](optional(map(K, V)), K): optional(V)"],
    ["optional_list_index_int", "_[_](optional(list(V)), int): optional(V)"],
    ["optional_map_index_value", "_[_](optional(map(K, V)), K): optional(V)"],
    ["list_last", "list(V).last(): optional(V)", (list: CelList) => element(list, list.size - 1)],
    ["list_first", "list(V).first(): optional(V)", (list: CelList) => element(list, 0)],
    ["optional_unwrap", "optional.unwrap(list(optional(V))): list(V)", unwrap],
    ["optional_unwrapOpt", "list(optional(V)).unwrapOpt(): list(V)", unwrap],
  ],
};
