/** Operators, conversions, and the functions that every CEL has. */

import type { Library, OverloadSpec } from "../types/declarations.ts";
import { add, divide, modulo, multiply, negate, subtract } from "../values/arithmetic.ts";
import { codePointLength } from "../values/code-points.ts";
import { toBool, toBytes, toDouble, toDuration, toInt, toText, toTimestamp, toUint } from "../values/convert.ts";
import { compare, isComparable } from "../values/equality.ts";
import { durationPart, timestampPart } from "../values/time.ts";
import {
  CelError,
  CelList,
  CelMap,
  type Duration,
  noSuchOperator,
  noSuchOverload,
  Opaque,
  type Timestamp,
  TypeValue,
  typeName,
  type Value,
} from "../values/values.ts";
import { matches } from "./regex.ts";

const ORDERED = [
  ["bool", "bool"],
  ["int", "int"],
  ["int", "double"],
  ["int", "uint"],
  ["uint", "uint"],
  ["uint", "double"],
  ["uint", "int"],
  ["double", "double"],
  ["double", "int"],
  ["double", "uint"],
  ["string", "string"],
  ["bytes", "bytes"],
  ["timestamp", "timestamp"],
  ["duration", "duration"],
] as const;

const RELATIONS = { less: "_<_", less_equals: "_<=_", greater: "_>_", greater_equals: "_>=_" };
const wide = (type: string) => (type === "int" || type === "uint" ? `${type}64` : type);

const relationOverloads: OverloadSpec[] = Object.entries(RELATIONS).flatMap(([relation, operator]) =>
  ORDERED.map(([a, b]): OverloadSpec => {
    const types = a === b ? wide(a) : `${wide(a)}_${wide(b)}`;
    return [`${relation}_${types}`, `${operator}(${a}, ${b}): bool`];
  }),
);

const relation =
  (operator: string, holds: (order: number) => boolean) =>
  (a: Value, b: Value): Value => {
    if (!isComparable(a)) return noSuchOperator(a, operator);
    const order = compare(a, b);
    return typeof order === "number" ? holds(order) : order;
  };

const PARTS: [name: string, overload: string, withZone?: string][] = [
  ["getFullYear", "year"],
  ["getMonth", "month"],
  ["getDayOfYear", "day_of_year"],
  ["getDayOfMonth", "day_of_month"],
  ["getDate", "day_of_month_1_based"],
  ["getDayOfWeek", "day_of_week"],
  ["getHours", "hours"],
  ["getMinutes", "minutes"],
  ["getSeconds", "seconds", "seconds_tz"],
  ["getMilliseconds", "milliseconds"],
];

const timeOverloads: OverloadSpec[] = PARTS.flatMap(([name, part, withZone = `${part}_with_tz`]) => {
  const overloads: OverloadSpec[] = [
    [`timestamp_to_${part}`, `timestamp.${name}(): int`, (t: Timestamp) => timestampPart(name, t)],
    [
      `timestamp_to_${withZone}`,
      `timestamp.${name}(string): int`,
      (t: Timestamp, z: string) => timestampPart(name, t, z),
    ],
  ];
  if (["getHours", "getMinutes", "getSeconds", "getMilliseconds"].includes(name))
    overloads.push([`duration_to_${part}`, `duration.${name}(): int`, (d: Duration) => durationPart(name, d)]);
  return overloads;
});

/** Whether a string has a part; any other value, and any other part, is an error. */
const stringTest =
  (test: (text: string, part: string) => boolean) =>
  (text: Value, part: Value): Value => {
    if (typeof text !== "string") return noSuchOverload(text);
    return typeof part === "string" ? test(text, part) : noSuchOverload(part);
  };

/** How many parts a value has, if it is of a kind that has any. */
export function sizeOf(value: Value): number | undefined {
  if (typeof value === "string") return codePointLength(value);
  if (value instanceof Uint8Array) return value.length;
  return value instanceof CelList || value instanceof CelMap || value instanceof Opaque ? value.size : undefined;
}

function size(value: Value): Value {
  const hasSize =
    typeof value === "string" || value instanceof Uint8Array || value instanceof CelList || value instanceof CelMap;
  return hasSize ? BigInt(sizeOf(value)!) : noSuchOperator(value, "size");
}

function typeOf(value: Value): Value {
  if (typeName(value) !== "unknown") return new TypeValue(typeName(value));
  const problem = "not supported for values preserved by x-kubernetes-preserve-unknown-fields";
  return new CelError(`type conversion to 'type' ${problem}`);
}

/** What CEL itself has. */
export const standard: Library = {
  overloads: [
    ["conditional", "_?_:_(bool, A, A): A"],
    ["logical_and", "_&&_(bool, bool): bool"],
    ["logical_or", "_||_(bool, bool): bool"],
    ["logical_not", "!_(bool): bool"],
    ["not_strictly_false", "@not_strictly_false(bool): bool"],
    ["equals", "_==_(A, A): bool"],
    ["not_equals", "_!=_(A, A): bool"],
    ["add_bytes", "_+_(bytes, bytes): bytes"],
    ["add_double", "_+_(double, double): double"],
    ["add_duration_duration", "_+_(duration, duration): duration"],
    ["add_duration_timestamp", "_+_(duration, timestamp): timestamp"],
    ["add_timestamp_duration", "_+_(timestamp, duration): timestamp"],
    ["add_int64", "_+_(int, int): int"],
    ["add_list", "_+_(list(A), list(A)): list(A)"],
    ["add_string", "_+_(string, string): string"],
    ["add_uint64", "_+_(uint, uint): uint"],
    ["divide_double", "_/_(double, double): double"],
    ["divide_int64", "_/_(int, int): int"],
    ["divide_uint64", "_/_(uint, uint): uint"],
    ["modulo_int64", "_%_(int, int): int"],
    ["modulo_uint64", "_%_(uint, uint): uint"],
    ["multiply_double", "_*_(double, double): double"],
    ["multiply_int64", "_*_(int, int): int"],
    ["multiply_uint64", "_*_(uint, uint): uint"],
    ["negate_double", "-_(double): double"],
    ["negate_int64", "-_(int): int"],
    ["subtract_double", "_-_(double, double): double"],
    ["subtract_duration_duration", "_-_(duration, duration): duration"],
    ["subtract_int64", "_-_(int, int): int"],
    ["subtract_timestamp_duration", "_-_(timestamp, duration): timestamp"],
    ["subtract_timestamp_timestamp", "_-_(timestamp, timestamp): duration"],
    ["subtract_uint64", "_-_(uint, uint): uint"],
    ...relationOverloads,
    ["index_list", "_[_](list(A), int): A"],
    ["index_map", "_[_](map(A, B), A): B"],
    ["in_list", "@in(A, list(A)): bool"],
    ["in_map", "@in(A, map(A, B)): bool"],
    ["size_bytes", "size(bytes): int"],
    ["bytes_size", "bytes.size(): int"],
    ["size_list", "size(list(A)): int"],
    ["list_size", "list(A).size(): int"],
    ["size_map", "size(map(A, B)): int"],
    ["map_size", "map(A, B).size(): int"],
    ["size_string", "size(string): int"],
    ["string_size", "string.size(): int"],
    ["type", "type(A): type(A)"],
    ["bool_to_bool", "bool(bool): bool", toBool],
    ["string_to_bool", "bool(string): bool", toBool],
    ["bytes_to_bytes", "bytes(bytes): bytes", toBytes],
    ["string_to_bytes", "bytes(string): bytes", toBytes],
    ["double_to_double", "double(double): double", toDouble],
    ["int64_to_double", "double(int): double", toDouble],
    ["string_to_double", "double(string): double", toDouble],
    ["uint64_to_double", "double(uint): double", toDouble],
    ["duration_to_duration", "duration(duration): duration", toDuration],
    ["int64_to_duration", "duration(int): duration", toDuration],
    ["string_to_duration", "duration(string): duration", toDuration],
    ["to_dyn", "dyn(A): dyn"],
    ["int64_to_int64", "int(int): int", toInt],
    ["double_to_int64", "int(double): int", toInt],
    ["duration_to_int64", "int(duration): int", toInt],
    ["string_to_int64", "int(string): int", toInt],
    ["timestamp_to_int64", "int(timestamp): int", toInt],
    ["uint64_to_int64", "int(uint): int", toInt],
    ["string_to_string", "string(string): string", toText],
    ["bool_to_string", "string(bool): string", toText],
    ["bytes_to_string", "string(bytes): string", toText],
    ["double_to_string", "string(double): string", toText],
    ["duration_to_string", "string(duration): string", toText],
    ["int64_to_string", "string(int): string", toText],
    ["timestamp_to_string", "string(timestamp): string", toText],
    ["uint64_to_string", "string(uint): string", toText],
    ["timestamp_to_timestamp", "timestamp(timestamp): timestamp", toTimestamp],
    ["int64_to_timestamp", "timestamp(int): timestamp", toTimestamp],
    ["string_to_timestamp", "timestamp(string): timestamp", toTimestamp],
    ["uint64_to_uint64", "uint(uint): uint", toUint],
    ["double_to_uint64", "uint(double): uint", toUint],
    ["int64_to_uint64", "uint(int): uint", toUint],
    ["string_to_uint64", "uint(string): uint", toUint],
    ["contains_string", "string.contains(string): bool", stringTest((s, part) => s.includes(part))],
    ["ends_with_string", "string.endsWith(string): bool", stringTest((s, part) => s.endsWith(part))],
    ["starts_with_string", "string.startsWith(string): bool", stringTest((s, part) => s.startsWith(part))],
    ["matches", "matches(string, string): bool"],
    ["matches_string", "string.matches(string): bool"],
    ...timeOverloads,
  ],
  shared: {
    "!_": (a: Value) => (typeof a === "boolean" ? !a : noSuchOverload(a)),
    "_+_": add,
    "_-_": subtract,
    "_*_": multiply,
    "_/_": divide,
    "_%_": modulo,
    "-_": negate,
    "_<_": relation("_<_", (order) => order < 0),
    "_<=_": relation("_<=_", (order) => order <= 0),
    "_>_": relation("_>_", (order) => order > 0),
    "_>=_": relation("_>=_", (order) => order >= 0),
    "@in": (item: Value, container: Value) =>
      container instanceof CelList || container instanceof CelMap
        ? container.contains(item)
        : noSuchOverload(container),
    "@not_strictly_false": (a: Value) => (typeof a === "boolean" ? a : true),
    size,
    type: typeOf,
    dyn: (a: Value) => a,
    matches,
  },
  unguarded: ["contains", "endsWith", "startsWith"],
};

/** Functions whose value is computed once, before evaluation, when their argument is a constant. */
export const CONVERSIONS: ReadonlySet<string> = new Set([
  "bool",
  "bytes",
  "double",
  "duration",
  "dyn",
  "int",
  "string",
  "timestamp",
  "type",
  "uint",
]);
