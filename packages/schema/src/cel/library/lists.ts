/** Functions on lists: Kubernetes' own and those of CEL's lists and sets extensions. */

import type { Library, OverloadSpec } from "../types/declarations.ts";
import { add } from "../values/arithmetic.ts";
import { GrowingMap, ListValue, MapValue } from "../values/collections.ts";
import { compare, equalAs, isComparable } from "../values/equality.ts";
import { checkElements } from "../values/limits.ts";
import { valueText } from "../values/value-text.ts";
import {
  CelError,
  CelList,
  type CelMap,
  Duration,
  isError,
  noSuchOperator,
  noSuchOverload,
  typeName,
  Uint,
  type Value,
} from "../values/values.ts";

/** The types whose values can be ordered, with the name that overloads of the lists extension have for them. */
const COMPARABLE: [type: string, extensionName: string][] = [
  ["int", "int"],
  ["uint", "uint"],
  ["double", "double"],
  ["bool", "bool"],
  ["duration", "google.protobuf.Duration"],
  ["timestamp", "google.protobuf.Timestamp"],
  ["string", "string"],
  ["bytes", "bytes"],
];

function isSorted(list: CelList): Value {
  let previous: Value | undefined;
  for (const item of list) {
    if (!isComparable(item)) return noSuchOverload(item);
    if (previous !== undefined && compare(previous, item) === 1) return false;
    previous = item;
  }
  return true;
}

const ZEROS: Record<string, Value> = { int: 0n, uint: new Uint(0n), double: 0, duration: new Duration(0n) };

const sum = (zero: Value) => (list: CelList) => {
  let total: Value = zero;
  for (const item of list) {
    total = add(total, item);
    if (isError(total)) return noSuchOverload(total);
  }
  return total;
};

const extreme = (name: string, preferred: number) => (list: CelList) => {
  let best: Value | undefined;
  for (const item of list) {
    if (!isComparable(item)) return noSuchOverload(item);
    if (best === undefined || compare(best, item) === preferred) best = item;
  }
  return best ?? new CelError(`${name} called on empty list`);
};
const min = extreme("min", 1);
const max = extreme("max", -1);

function indexOf(list: CelList, item: Value): Value {
  for (let i = 0; i < list.size; i++) if (equalAs(list.at(i), item) === true) return BigInt(i);
  return -1n;
}

function lastIndexOf(list: CelList, item: Value): Value {
  for (let i = list.size - 1; i >= 0; i--) if (equalAs(list.at(i), item) === true) return BigInt(i);
  return -1n;
}

/** Kubernetes' list functions. */
export const lists: Library = {
  overloads: [
    ...COMPARABLE.map(([t]): OverloadSpec => [`list_${t}_is_sorted_bool`, `list(${t}).isSorted(): bool`, isSorted]),
    ...Object.entries(ZEROS).map(
      ([t, zero]): OverloadSpec => [`list_${t}_sum_${t}`, `list(${t}).sum(): ${t}`, sum(zero)],
    ),
    ...COMPARABLE.map(([t]): OverloadSpec => [`list_${t}_max_${t}`, `list(${t}).max(): ${t}`, max]),
    ...COMPARABLE.map(([t]): OverloadSpec => [`list_${t}_min_${t}`, `list(${t}).min(): ${t}`, min]),
    ["list_a_index_of_int", "list(A).indexOf(A): int", indexOf],
    ["list_a_last_index_of_int", "list(A).lastIndexOf(A): int", lastIndexOf],
  ],
};

function slice(list: CelList, start: bigint, end: bigint): Value {
  const cannot = (why: string) => new CelError(`cannot slice(${start}, ${end}), ${why}`);
  if (start < 0n || end < 0n) return cannot("negative indexes not supported");
  if (start > end) return cannot("start index must be less than or equal to end index");
  if (BigInt(list.size) < end) return cannot(`list is length ${list.size}`);
  const items: Value[] = [];
  checkElements(Number(end - start));
  for (let i = Number(start); i < Number(end); i++) items.push(list.at(i));
  return new ListValue(items);
}

function flatten(list: Value, depth = 1n): Value {
  if (!(list instanceof CelList)) return noSuchOverload(list);
  if (depth < 0n) return new CelError("level must be non-negative");
  const items: Value[] = [];
  const add = (from: CelList, levels: bigint): void => {
    for (const item of from) {
      if (item instanceof CelList && levels > 0n) add(item, levels - 1n);
      else checkElements(items.push(item));
    }
  };
  add(list, depth);
  return new ListValue(items);
}

function sort(list: Value): Value {
  return list instanceof CelList ? sortByKeys(list, list) : noSuchOperator(list, "sort");
}

function sortByKeys(list: Value, keys: Value): Value {
  if (!(list instanceof CelList) || !(keys instanceof CelList)) return noSuchOperator(list, "@sortByAssociatedKeys");
  if (list.size !== keys.size) {
    const sizes = `${list.size} and ${keys.size} elements respectively`;
    return new CelError(
      `@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got ${sizes}`,
    );
  }
  if (list.size === 0) return list;
  const pairs = [...keys].map((key, i) => ({ key, item: list.at(i) }));
  const first = pairs[0]!.key;
  if (!isComparable(first)) return new CelError("list elements must be comparable");
  if (pairs.length > 1 && pairs.some(({ key }) => typeName(key) !== typeName(first)))
    return new CelError("list elements must have the same type");
  pairs.sort((a, b) => {
    const order = compare(a.key, b.key);
    return typeof order === "number" ? order : 0;
  });
  return new ListValue(pairs.map(({ item }) => item));
}

function reverse(list: CelList): Value {
  checkElements(list.size);
  return new ListValue([...list].reverse());
}

const LONGEST_RANGE = 2 ** 32 - 2;

function range(count: bigint): Value {
  if (count > LONGEST_RANGE) return new CelError("internal error: runtime error: makeslice: len out of range");
  checkElements(Number(count));
  return new ListValue(Array.from({ length: Math.max(0, Number(count)) }, (_, i) => BigInt(i)));
}

function distinct(list: CelList): Value {
  if (list.size === 0) return list;
  const unique: Value[] = [];
  for (const item of list) if (!unique.some((other) => equalAs(item, other) === true)) unique.push(item);
  return new ListValue(unique);
}

/** CEL's lists extension. */
export const listsExtension: Library = {
  overloads: [
    ["list_slice", "list(T).slice(int, int): list(T)", slice],
    ["list_flatten", "list(list(T)).flatten(): list(T)", flatten],
    ["list_flatten_int", "list(dyn).flatten(int): list(dyn)", flatten],
    ...COMPARABLE.map(([t, name]): OverloadSpec => [`list_${name}_sort`, `list(${t}).sort(): list(${t})`]),
    ...COMPARABLE.map(
      ([t, name]): OverloadSpec => [
        `list_${name}_sortByAssociatedKeys`,
        `list(T).@sortByAssociatedKeys(list(${t})): list(T)`,
      ],
    ),
    ["lists_range", "lists.range(int): list(int)", range],
    ["list_reverse", "list(T).reverse(): list(T)", reverse],
    ["list_distinct", "list(T).distinct(): list(T)", distinct],
  ],
  shared: { sort, "@sortByAssociatedKeys": sortByKeys },
  unguarded: ["flatten"],
};

function containsAll(list: CelList, sublist: CelList): Value {
  for (const item of sublist) {
    const found = list.contains(item);
    if (found !== true) return found;
  }
  return true;
}

function equivalent(a: CelList, b: CelList): Value {
  const contained = containsAll(a, b);
  return contained === true ? containsAll(b, a) : contained;
}

function intersects(a: CelList, b: CelList): Value {
  for (const item of a) if (b.contains(item) === true) return true;
  return false;
}

/** CEL's sets extension. */
export const sets: Library = {
  overloads: [
    ["list_sets_contains_list", "sets.contains(list(T), list(T)): bool", containsAll],
    ["list_sets_equivalent_list", "sets.equivalent(list(T), list(T)): bool", equivalent],
    ["list_sets_intersects_list", "sets.intersects(list(T), list(T)): bool", intersects],
  ],
};

/** Adds an entry to the map that a loop builds; a key may come only once. */
function insert(map: CelMap, key: Value, value: Value): Value {
  if (map.find(key) !== undefined) return new CelError(`insert failed: key ${valueText(key)} already exists`);
  const target = map instanceof GrowingMap ? map : copyOf(map);
  target.set(key, value);
  return target;
}

function copyOf(map: CelMap): MapValue {
  const copy = new MapValue();
  for (const key of map.keys()) copy.set(key, map.find(key)!);
  return copy;
}

function insertAll(map: CelMap, entries: CelMap): Value {
  let target: Value = map;
  for (const key of entries.keys()) {
    target = insert(target as CelMap, key, entries.find(key)!);
    if (isError(target)) return target;
  }
  return target;
}

/** What loops with two variables need to build maps. */
export const comprehensions: Library = {
  overloads: [
    ["@mapInsert_map_key_value", "cel.@mapInsert(map(K, V), K, V): map(K, V)", insert],
    ["@mapInsert_map_map", "cel.@mapInsert(map(K, V), map(K, V)): map(K, V)", insertAll],
  ],
};
