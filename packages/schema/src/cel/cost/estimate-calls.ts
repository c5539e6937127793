/** What calls of functions can cost at worst, by the sizes of their arguments. */

import type { Expr } from "../syntax/ast.ts";
import type { Type } from "../types/types.ts";
import type { Path } from "./estimate-path.ts";
import { exactly, MOST, ONE, plus, type Range, scaled, times, UNKNOWN, ZERO } from "./estimate-range.ts";
import { LIST_COST, SORTABLE_TYPES, STRUCT_COST } from "./runtime-cost.ts";

/** A part of an expression, with what is known about it. */
export interface EstimatedNode {
  readonly expr: Expr | undefined;
  readonly type: Type;
  readonly path: Path;
  /** Undefined when nothing is known. */
  readonly size: Range | undefined;
}

/** What a call costs, and how large its result is. */
export interface CallEstimate {
  readonly cost: Range;
  /** The size of the result, where the call says something about it. */
  readonly size?: Range;
}

type Sizer = (path: Path) => Range | undefined;

interface CallInfo {
  readonly overload: string;
  readonly target: EstimatedNode | undefined;
  readonly args: readonly EstimatedNode[];
  /** Sizes; the target's first where there is one. */
  readonly sizes: readonly Range[];
  readonly element: () => EstimatedNode | undefined;
  readonly sizeOf: (node: EstimatedNode) => Range;
}

type Estimate = (call: CallInfo) => CallEstimate | undefined;

const STRING_FACTOR = 0.1;
const REGEX_FACTOR = 0.25;

/** The cost of a call apart from that of its arguments. */
export function estimateCall(
  fn: string,
  overload: string,
  target: EstimatedNode | undefined,
  args: readonly EstimatedNode[],
  sizeAt: Sizer,
): CallEstimate {
  const sizeOf = (node: EstimatedNode) => node.size ?? sizeAt(node.path) ?? UNKNOWN;
  const element = (): EstimatedNode | undefined => {
    const type = target?.type.params[0];
    if (!target || !type) return undefined;
    const path = target.path.length === 0 ? target.path : target.path.copyWith("@items");
    return { expr: undefined, type, path, size: undefined };
  };
  const sizes = (target ? [target, ...args] : args).map(sizeOf);
  const call: CallInfo = { overload, target, args, sizes, element, sizeOf };
  return (
    BY_OVERLOAD_FIRST.get(overload)?.(call) ??
    BY_FUNCTION.get(fn)?.(call) ??
    BY_OVERLOAD.get(overload)?.({
      ...call,
      sizes: (target ? [target, ...args] : args).map(({ size }) => size ?? UNKNOWN),
    }) ?? {
      cost: ONE,
    }
  );
}

const traversal = (size: Range) => scaled(size, STRING_FACTOR);
const one: Estimate = () => ({ cost: ONE });

/** A string is read once and gives one as long. */
const readFirst: Estimate = ({ sizes: [size] }) => ({ cost: traversal(size!), size });
const parseFirst: Estimate = ({ sizes: [size] }) => ({ cost: traversal(size!) });

const regexCost = (text: Range, pattern: Range) => times(traversal(plus(text, ONE)), scaled(pattern, REGEX_FACTOR));

const searchList: Estimate = ({ target, element, sizeOf }) => {
  if (!target) return undefined;
  const item = element();
  if (!item) return { cost: traversal(sizeOf(target)) };
  const isText = item.type.kind === "string" || item.type.kind === "bytes";
  const each = isText ? plus(ONE, traversal(sizeOf(item))) : ONE;
  return { cost: times(sizeOf(target), each) };
};

const replace: Estimate = ({ sizes: [text, part, by] }) => {
  const [whole, from, to] = [text!, part!, by!];
  const ceil = (a: bigint, b: bigint) => {
    const quotient = Math.ceil(Number(a) / Number(b));
    return quotient >= 2 ** 64 ? MOST : BigInt(quotient);
  };
  const oneMore = (n: bigint) => (n < MOST ? n + 1n : n);
  let most = { count: 0n, kept: 0n };
  if (from.min === 0n) most = { count: oneMore(whole.max), kept: whole.max };
  else if (to.max <= from.min) most = { count: 0n, kept: whole.max };
  else most = { count: ceil(whole.max, from.min), kept: 0n };
  let least = { count: 0n, kept: 0n };
  if (from.max === 0n) least = { count: oneMore(whole.min), kept: whole.min };
  else if (from.max <= to.min) least = { count: 0n, kept: whole.min };
  else least = { count: ceil(whole.min, from.max), kept: 0n };
  const size = plus(times({ min: least.count, max: most.count }, to), { min: least.kept, max: most.kept });
  return { cost: scaled(whole, 2 * STRING_FACTOR), size };
};

const split: Estimate = ({ sizes: [text], args }) => {
  const limit = args[1]?.expr;
  const isLimited = limit?.kind === "literal" && typeof limit.value === "bigint";
  const max = isLimited ? BigInt.asUintN(64, limit.value as bigint) : text!.max;
  return { cost: scaled(text!, 2 * STRING_FACTOR), size: { min: 0n, max } };
};

const join: Estimate = ({ target, args, element, sizeOf }) => {
  if (!target) return undefined;
  const list = sizeOf(target);
  const item = element();
  let size = item ? times(list, sizeOf(item)) : ZERO;
  if (args[0]) {
    const less = (n: bigint) => (n > 0n ? n - 1n : 0n);
    size = plus(size, times(sizeOf(args[0]), { min: less(list.min), max: less(list.max) }));
  }
  return { cost: traversal(size), size };
};

const find: Estimate = ({ target, sizes: [text, pattern] }) =>
  target && pattern && { cost: regexCost(text!, pattern), size: { min: 0n, max: text!.max } };

/** An address has 4 or 16 bytes. */
const ADDRESS: Range = { min: 4n, max: 16n };

const containsIp: Estimate = ({ overload, args, sizeOf }) => {
  const parse = overload === "cidr_contains_ip_string" ? traversal(sizeOf(args[0]!)) : ZERO;
  return { cost: plus(traversal(plus(ADDRESS, ADDRESS)), parse) };
};

const containsCidr: Estimate = ({ overload, args, sizeOf }) => {
  const parse = overload === "cidr_contains_cidr_string" ? traversal(sizeOf(args[0]!)) : ZERO;
  return { cost: plus(traversal(plus(ADDRESS, ADDRESS)), traversal(ADDRESS), ONE, parse) };
};

const selector: Estimate = ({ args, sizeOf }) => {
  const length = sizeOf(args[0]!);
  const requirements = scaled(scaled(length, 0.5), LIST_COST + STRUCT_COST);
  return { cost: plus(exactly(LIST_COST), traversal(length), requirements) };
};

const LONGEST_FORMAT_PATTERN = 128;
const validation: Estimate = ({ args, sizeOf }) =>
  args[0] && { cost: scaled(traversal(sizeOf(args[0])), LONGEST_FORMAT_PATTERN * REGEX_FACTOR) };

const CONSTANT_EQUALITY = new Set([
  "net.IP",
  "net.CIDR",
  "kubernetes.Quantity",
  "kubernetes.Semver",
  "kubernetes.authorization.Authorizer",
  "kubernetes.authorization.PathCheck",
  "kubernetes.authorization.GroupCheck",
  "kubernetes.authorization.ResourceCheck",
  "kubernetes.authorization.Decision",
]);

const equality: Estimate = ({ args: [a, b] }) => {
  if (!a || !b || a.type.name !== b.type.name) return undefined;
  if (CONSTANT_EQUALITY.has(a.type.name)) return { cost: ONE };
  if (a.type.name === "kubernetes.NamedFormat") return { cost: traversal({ min: 1n, max: 64n }) };
  if (a.type.name === "kubernetes.URL") return { cost: traversal({ min: 1n, max: (b.size ?? ONE).max }) };
  return undefined;
};

const named = (names: string, estimate: Estimate): [string, Estimate][] =>
  names.split(" ").map((name) => [name, estimate]);

const BY_FUNCTION = new Map<string, Estimate>([
  ["check", () => ({ cost: exactly(350_000) })],
  ...named(
    "serviceAccount path group resource subresource namespace name allowed reason error errored masked prefixLength " +
      "family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast format.named sign " +
      "asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch getScheme " +
      "getHostname getHost getPort getEscapedPath getQuery",
    one,
  ),
  ...named("fieldSelector labelSelector", selector),
  ...named("isSorted sum max min indexOf lastIndexOf", searchList),
  ...named("url jsonpatch.escapeKey lowerAscii upperAscii substring trim", readFirst),
  ["replace", replace],
  ["split", split],
  ["join", join],
  ...named("find findAll", find),
  ...named("cidr isIP isCIDR quantity isQuantity semver isSemver", parseFirst),
  ["ip", (call) => (call.overload === "cidr_ip" ? { cost: ONE } : parseFirst(call))],
  ["ip.isCanonical", ({ sizes: [size] }) => ({ cost: scaled(size!, 2 * STRING_FACTOR) })],
  ["containsIP", containsIp],
  ["containsCIDR", containsCidr],
  ["validate", validation],
  ["_==_", equality],
]);

/** Lists are copied: that cost is added, once for the call and once for the list. */
const newList = (size: Range, factor: number): CallEstimate => ({
  cost: plus(scaled(size, factor), ONE, exactly(LIST_COST)),
  size,
});

function literalInt(node: EstimatedNode | undefined, otherwise: bigint): bigint {
  if (node?.expr?.kind !== "literal" || typeof node.expr.value !== "bigint") return otherwise;
  return node.expr.value < 0n ? 0n : node.expr.value;
}

const slice: Estimate = ({ sizes: [list], args }) => {
  const length = literalInt(args[1], list!.max) - literalInt(args[0], 0n);
  return newList(exactly(BigInt.asUintN(64, length)), 1);
};

const compareAll =
  (argument: number, factor: number): Estimate =>
  ({ sizes }) =>
    newList(times(sizes[argument]!, sizes[argument]!), factor);

const sets =
  (factor: number): Estimate =>
  ({ sizes: [a, b] }) => ({ cost: plus(scaled(times(a!, b!), factor), ONE) });

const sortFactor = (type: string) => (type === "string" || type === "bytes" ? 2.1 : 2);

const BY_OVERLOAD_FIRST = new Map<string, Estimate>([
  ["list_sets_contains_list", sets(1)],
  ["list_sets_intersects_list", sets(1)],
  ["list_sets_equivalent_list", sets(2)],
  ["list_slice", slice],
  ["lists_range", ({ args }) => newList(exactly(literalInt(args[0], MOST)), 1)],
  ["list_reverse", ({ sizes: [list] }) => newList(list!, 1)],
  ["list_flatten", ({ sizes: [list] }) => newList(list!, 1)],
  ["list_flatten_int", ({ sizes: [list], args }) => newList(list!, Number(literalInt(args[0], MOST)))],
  ["list_distinct", compareAll(0, 2)],
  ...SORTABLE_TYPES.map((t): [string, Estimate] => [`list_${t}_sort`, compareAll(0, sortFactor(t))]),
  ...SORTABLE_TYPES.map((t): [string, Estimate] => [`list_${t}_sortByAssociatedKeys`, compareAll(1, sortFactor(t))]),
]);

const smallest: Estimate = ({ sizes: [a, b] }) => {
  const max = a!.max < b!.max ? a!.max : b!.max;
  return { cost: traversal({ min: max > 0n ? 1n : 0n, max }) };
};

const concatenate: Estimate = ({ sizes: [a, b] }) => {
  const size = plus(a!, b!);
  return { cost: traversal(size), size };
};

const wrapped = (n: bigint) => BigInt.asUintN(64, n);

const BY_OVERLOAD = new Map<string, Estimate>([
  ["string_format", ({ target, sizes: [size] }) => target && { cost: traversal(size!) }],
  [
    "string_to_bytes",
    ({ sizes: [size] }) => ({ cost: traversal(size!), size: { min: size!.min, max: wrapped(size!.max * 4n) } }),
  ],
  [
    "bytes_to_string",
    ({ sizes: [size] }) => ({ cost: traversal(size!), size: { min: size!.min / 4n, max: size!.max } }),
  ],
  [
    "strings_quote",
    ({ sizes: [size] }) => ({
      cost: traversal(size!),
      size: { min: wrapped(size!.min + 2n), max: wrapped(size!.max * 2n + 2n) },
    }),
  ],
  ...named("starts_with_string ends_with_string", ({ sizes }) => ({ cost: traversal(sizes[1]!) })),
  ["in_list", ({ sizes: [, list] }) => ({ cost: scaled(list!, 1) })],
  ["matches_string", ({ target, sizes: [text, pattern] }) => target && { cost: regexCost(text!, pattern!) }],
  ["contains_string", ({ sizes: [text, part] }) => ({ cost: times(traversal(text!), traversal(part!)) })],
  ...named("add_string add_bytes", concatenate),
  ["add_list", ({ sizes: [a, b] }) => ({ cost: ONE, size: plus(a!, b!) })],
  ...named(
    "less_string greater_string less_equals_string greater_equals_string less_bytes greater_bytes less_equals_bytes " +
      "greater_equals_bytes equals not_equals",
    smallest,
  ),
]);
