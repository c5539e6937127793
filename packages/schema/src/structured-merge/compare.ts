import { deepEqual, isObject, type JsonObject } from "@konverge/core";
import { isEmpty as isEmptyObject, own } from "../json-value.ts";
import { EMPTY, type FieldSet, MEMBER } from "./field-set.ts";
import { itemElement } from "./item-element.ts";
import { formOf, type ListType, type MapType, type MergeType } from "./merge-type.ts";

/** What differs between two objects. No field is in more than one of the three. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** Differences of a part of two objects; undefined where there are none. */
interface Parts {
  added?: Record<string, FieldSet> | undefined;
  modified?: Record<string, FieldSet> | undefined;
  removed?: Record<string, FieldSet> | undefined;
}

const ADDED: Parts = { added: MEMBER };
const MODIFIED: Parts = { modified: MEMBER };
const REMOVED: Parts = { removed: MEMBER };

/** Compares two objects of a type. Parts that are the same JavaScript object are not looked into. */
export function compare(type: MergeType, before: unknown, after: unknown): Comparison {
  const parts = compareValues(type, before, after);
  return { added: parts?.added ?? EMPTY, modified: parts?.modified ?? EMPTY, removed: parts?.removed ?? EMPTY };
}

/** Undefined stands for a value that is not there. */
function compareValues(type: MergeType, before: unknown, after: unknown): Parts | undefined {
  if (before === after) return undefined;
  const formBefore = before === undefined ? undefined : formOf(type, before);
  const formAfter = after === undefined ? undefined : formOf(type, after);
  if (formBefore !== undefined && formAfter !== undefined && formBefore !== formAfter) {
    const parts = { ...compareAs(formBefore, type, before, after) };
    const others = compareAs(formAfter, type, before, after);
    return { ...parts, ...others };
  }
  return compareAs(formAfter ?? formBefore!, type, before, after);
}

function compareAs(
  form: "map" | "scalar" | "list",
  type: MergeType,
  before: unknown,
  after: unknown,
): Parts | undefined {
  if (form === "scalar") return compareLeaf(before, after);
  const parts: Parts = {};
  if (form === "map") {
    const [left, right] = [asMap(before), asMap(after)];
    if (type.map!.atomic || (isBare(left) && isBare(right))) return compareLeaf(before, after);
    compareMaps(type.map!, left, right, parts);
  } else {
    const [left, right] = [asList(before), asList(after)];
    if (type.list!.atomic || (left.length === 0 && right.length === 0)) return compareLeaf(before, after);
    compareLists(type.list!, left, right, parts);
  }
  // A container that came or went is itself a field that did.
  if (before === undefined) parts.added = parts.added ? { ".": MEMBER, ...parts.added } : MEMBER;
  else if (after === undefined) parts.removed = parts.removed ? { ".": MEMBER, ...parts.removed } : MEMBER;
  return parts;
}

function compareLeaf(before: unknown, after: unknown): Parts | undefined {
  if (before === undefined) return ADDED;
  if (after === undefined) return REMOVED;
  return deepEqual(before, after) ? undefined : MODIFIED;
}

function asMap(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isBare(map: JsonObject | undefined): boolean {
  return map === undefined || isEmptyObject(map);
}

function compareMaps(type: MapType, before: JsonObject | undefined, after: JsonObject | undefined, into: Parts): void {
  for (const name in before) {
    const left = before[name];
    const right = after && own(after, name);
    if (left !== right) compareField(type, name, left, right, into);
  }
  for (const name in after) {
    if (!before || !Object.hasOwn(before, name)) compareField(type, name, undefined, after[name], into);
  }
}

function compareField(type: MapType, name: string, before: unknown, after: unknown, into: Parts): void {
  const field = type.field(name);
  if (field.type) attach(into, field.element, compareValues(field.type, before, after));
}

function compareLists(type: ListType, before: readonly unknown[], after: readonly unknown[], into: Parts): void {
  const left = byElement(type, before);
  const right = byElement(type, after);
  for (const [element, items] of left) compareItems(type, element, items, right.get(element) ?? [], into);
  for (const [element, items] of right) if (!left.has(element)) compareItems(type, element, [], items, into);
}

function byElement(type: ListType, items: readonly unknown[]): Map<string, unknown[]> {
  const found = new Map<string, unknown[]>();
  for (const item of items) {
    const element = itemElement(type, item);
    const same = found.get(element);
    if (same) same.push(item);
    else found.set(element, [item]);
  }
  return found;
}

/** Items that occur more than once are compared as a whole: no manager can own a part of them. */
function compareItems(type: ListType, element: string, before: unknown[], after: unknown[], into: Parts): void {
  if (before.length <= 1 && after.length <= 1) {
    attach(into, element, compareValues(type.item, before[0], after[0]));
  } else if (before.length > 1 && after.length > 1) {
    if (!deepEqual(before, after)) attach(into, element, MODIFIED);
  } else if (before.length > 1) {
    if (after.length > 0) attach(into, element, compareValues(type.item, undefined, after[0]));
    attach(into, element, REMOVED);
  } else {
    if (before.length > 0) attach(into, element, compareValues(type.item, before[0], undefined));
    attach(into, element, ADDED);
  }
}

function attach(into: Parts, element: string, parts: Parts | undefined): void {
  if (!parts) return;
  for (const kind of KINDS) {
    const set = parts[kind];
    if (!set) continue;
    into[kind] ??= {};
    into[kind][element] = set;
  }
}

const KINDS = ["added", "modified", "removed"] as const;
