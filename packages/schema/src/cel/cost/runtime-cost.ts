/**
 * What a call costs when it runs. Costs are Kubernetes' units: reading a name or a field is 1, traversing a string 0.1 a
 * character. The API server stops expressions by them, so they are the same numbers here.
 */

import { NamedFormat } from "../library/formats.ts";
import { sizeOf } from "../library/standard.ts";
import { checkElements } from "../values/limits.ts";
import { CelList, CelMap, goTypeName, Opaque, Optional, typeName, type Value } from "../values/values.ts";

/** What it costs to build a list, a map, an object. */
export const LIST_COST = 10;
export const MAP_COST = 30;
export const STRUCT_COST = 40;
const STRING_FACTOR = 0.1;
const REGEX_FACTOR = 0.25;

/** An authorization check is made so expensive that an expression can afford two. */
const CHECK_COST = 350_000;

/** What a call costs, given what went in and came out. */
export type CallCost = (args: readonly Value[], result: Value) => number;

const size = (value: Value | undefined) => (value === undefined ? 1 : (sizeOf(value) ?? 1));
/** Other than {@link size}, looks inside optionals. */
const innerSize = (value: Value): number =>
  value instanceof Optional && value.value !== undefined ? innerSize(value.value) : size(value);
const traversal = (length: number) => Math.ceil(length * STRING_FACTOR);

const one: CallCost = () => 1;
const firstArgument: CallCost = ([a]) => traversal(size(a));
const firstArgumentTwice: CallCost = ([a]) => Math.ceil(size(a) * 2 * STRING_FACTOR);

function regexCost(text: number, pattern: number): number {
  return Math.ceil((1 + text) * STRING_FACTOR) * Math.ceil(pattern * REGEX_FACTOR);
}

const joined: CallCost = (_, result) => Math.ceil(size(result) * 2 * STRING_FACTOR);

/** Reading all of a value, however deep. */
function traverse(value: Value): number {
  if (value instanceof CelList || value instanceof CelMap) checkElements(value.size);
  if (typeof value === "string") return Math.trunc(new TextEncoder().encode(value).length * STRING_FACTOR);
  if (value instanceof Uint8Array) return Math.trunc(value.length * STRING_FACTOR);
  let cost = 0;
  if (value instanceof CelList) for (const item of value) cost += traverse(item);
  else if (value instanceof CelMap) for (const key of value.keys()) cost += traverse(key) + traverse(value.find(key)!);
  else return 1;
  return cost;
}

const contains =
  (stringOverload: string, extra: (cidr: number) => number): ((overload: string) => CallCost) =>
  (overload) =>
  ([cidr, other]) => {
    const parse = overload === stringOverload ? traversal(size(other)) : 0;
    return Math.ceil(size(cidr) * 2 * STRING_FACTOR) + extra(size(cidr)) + parse;
  };

const selector: CallCost = ([, text]) => {
  const length = size(text);
  const requirements = Math.ceil(Math.ceil(length * 0.5) * (LIST_COST + STRUCT_COST));
  return LIST_COST + traversal(length) + requirements;
};

const validation: CallCost = ([format, text]) =>
  format instanceof NamedFormat ? regexCost(size(text), format.patternLength) : 1;

const named = (names: string, cost: (overload: string) => CallCost): [string, (overload: string) => CallCost][] =>
  names.split(" ").map((name) => [name, cost]);

/** Costs that Kubernetes sets, by the function's name. */
const BY_FUNCTION = new Map<string, (overload: string) => CallCost>([
  ["check", () => () => CHECK_COST],
  ...named(
    "serviceAccount path group resource subresource namespace name allowed reason error errored masked prefixLength " +
      "family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast format.named sign " +
      "asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch getScheme " +
      "getHostname getHost getPort getEscapedPath getQuery",
    () => one,
  ),
  ...named("fieldSelector labelSelector", () => selector),
  ...named(
    "isSorted sum max min indexOf lastIndexOf",
    () =>
      ([list]) =>
        traverse(list!),
  ),
  ...named(
    "url lowerAscii upperAscii substring trim jsonpatch.escapeKey cidr isIP isCIDR quantity isQuantity semver isSemver",
    () => firstArgument,
  ),
  ...named("replace split ip.isCanonical", () => firstArgumentTwice),
  ["join", () => joined],
  ...named(
    "find findAll",
    () =>
      ([text, pattern]) =>
        regexCost(size(text), size(pattern)),
  ),
  ["ip", (overload) => (overload === "cidr_ip" ? one : firstArgument)],
  ["containsIP", contains("cidr_contains_ip_string", () => 0)],
  ["containsCIDR", contains("cidr_contains_cidr_string", (cidr) => traversal(cidr) + 1)],
  ["validate", () => validation],
]);

/** Thrown where the API server's own accounting breaks: the evaluation ends with an internal error. */
export class AccountingError extends Error {}

const CAN_BE_ADDED = new Set(
  "bytes double google.protobuf.Duration google.protobuf.Timestamp int string uint".split(" "),
);

/** Lists compared with themselves: quadratic. */
const selfCompare =
  (argument: number): CallCost =>
  (args) => {
    const list = args[argument]!;
    if (!(list instanceof CelList)) {
      const method = CAN_BE_ADDED.has(typeName(list)) ? "Contains" : "Add";
      throw new AccountingError(
        `interface conversion: ${goTypeName(list)} is not traits.Lister: missing method ${method}`,
      );
    }
    const first = list.size === 0 ? undefined : typeName(list.at(0));
    const factor = first === "string" || first === "bytes" ? 2.1 : 2;
    return Math.trunc(list.size ** 2 * factor) + 1 + LIST_COST;
  };

const outputSize: CallCost = (_, result) => size(result) + 1 + LIST_COST;
const sets =
  (factor: number): CallCost =>
  ([a, b]) =>
    1 + Math.trunc(size(a) * size(b) * factor);

const smallest: CallCost = ([a, b]) => Math.ceil(Math.min(innerSize(a!), innerSize(b!)) * STRING_FACTOR);
/** The types of elements that lists can be sorted by. */
export const SORTABLE_TYPES = [
  "int",
  "uint",
  "double",
  "bool",
  "google.protobuf.Duration",
  "google.protobuf.Timestamp",
  "string",
  "bytes",
];

/** Costs of libraries that count for themselves, before anything else. */
const BY_OVERLOAD_FIRST = new Map<string, CallCost>([
  ["list_sets_contains_list", sets(1)],
  ["list_sets_intersects_list", sets(1)],
  ["list_sets_equivalent_list", sets(2)],
  ["list_slice", outputSize],
  ["lists_range", outputSize],
  ["list_reverse", outputSize],
  ["list_flatten", ([list]) => size(list) + 1 + LIST_COST],
  ["list_flatten_int", ([list, depth]) => Math.trunc(size(list) * Number(depth)) + 1 + LIST_COST],
  ["list_distinct", selfCompare(0)],
  ...SORTABLE_TYPES.map((type): [string, CallCost] => [`list_${type}_sort`, selfCompare(0)]),
  ...SORTABLE_TYPES.map((type): [string, CallCost] => [`list_${type}_sortByAssociatedKeys`, selfCompare(1)]),
]);

/** Costs of CEL's own functions, by overload; everything else costs 1. */
const BY_OVERLOAD = new Map<string, CallCost>([
  ...[
    "starts_with_string",
    "ends_with_string",
    "string_to_bytes",
    "bytes_to_string",
    "strings_quote",
    "string_format",
  ].map((id): [string, CallCost] => [id, ([a]) => traversal(innerSize(a!))]),
  ["in_list", ([, list]) => innerSize(list!)],
  ...["less", "greater", "less_equals", "greater_equals"].flatMap((relation): [string, CallCost][] => [
    [`${relation}_string`, smallest],
    [`${relation}_bytes`, smallest],
  ]),
  ["equals", smallest],
  ["not_equals", smallest],
  ...["add_string", "add_bytes"].map((id): [string, CallCost] => [
    id,
    ([a, b]) => traversal(innerSize(a!) + innerSize(b!)),
  ]),
  ["matches_string", ([text, pattern]) => regexCost(innerSize(text!), innerSize(pattern!))],
  ["contains_string", ([text, part]) => traversal(innerSize(text!)) * traversal(innerSize(part!))],
]);

/** The characters that a call reads, and what it does besides in characters that could be read in the time. */
export type CallWork = (args: readonly Value[]) => number;

/** Some microseconds, for which a real server takes a few units. */
const PARSING = 500;
const PARSERS = new Set(
  (
    "url quantity isQuantity semver isSemver ip isIP ip.isCanonical cidr isCIDR containsIP containsCIDR " +
    "duration timestamp find findAll matches validate"
  ).split(" "),
);

/** What a function does beyond its cost, which is the real server's; undefined for nothing to speak of. */
export function callWork(fn: string): CallWork | undefined {
  // The real server lets it read for nothing.
  if (fn === "isURL") return ([text]) => PARSING + size(text);
  return PARSERS.has(fn) ? () => PARSING : undefined;
}

const equality: CallCost = (args, result) => (args[0] instanceof Opaque ? 1 : smallest(args, result));

/** Whether a cost is known only after the call. */
export function dependsOnResult(cost: CallCost): boolean {
  return cost === joined || cost === outputSize;
}

/** The cost of calls of a function; `overload` is empty where only the arguments decide which one it is. */
export function callCost(fn: string, overload: string): CallCost {
  if (fn === "_==_") return equality;
  return BY_OVERLOAD_FIRST.get(overload) ?? BY_FUNCTION.get(fn)?.(overload) ?? BY_OVERLOAD.get(overload) ?? one;
}
