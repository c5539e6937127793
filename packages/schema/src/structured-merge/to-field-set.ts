import { isObject, type JsonObject } from "@konverge/core";
import { isEmpty as isEmptyObject } from "../json-value.ts";
import { EMPTY, type FieldSet, isEmpty, MEMBER } from "./field-set.ts";
import { itemElementOrNone } from "./item-element.ts";
import { formOf, type ListType, type MapType, type MergeType } from "./merge-type.ts";

/**
 * The fields that a manager owns after it has applied this object: its leaves, the items of its lists, and the entries
 * of its maps. Declared fields that hold other fields are not owned themselves, except where they are explicitly empty.
 */
export function toFieldSet(type: MergeType, object: unknown): FieldSet {
  const set = fieldsOf(type, object);
  // The object as a whole belongs to no manager.
  return set === undefined || set === MEMBER ? EMPTY : set;
}

/** MEMBER when the value itself is a field, a tree when fields are below it, undefined when there are none. */
function fieldsOf(type: MergeType, value: unknown): FieldSet | undefined {
  switch (formOf(type, value)) {
    case "scalar":
      return MEMBER;
    case "list":
      if (type.list!.atomic) return MEMBER;
      return Array.isArray(value) ? fieldsOfList(type.list!, value) : undefined;
    case "map":
      if (type.map!.atomic) return MEMBER;
      return isObject(value) ? fieldsOfMap(type.map!, value) : undefined;
  }
}

function fieldsOfMap(type: MapType, map: JsonObject): FieldSet | undefined {
  let set: Record<string, FieldSet> | undefined;
  for (const name in map) {
    const value = map[name];
    const field = type.field(name);
    const inner = field.type && fieldsOf(field.type, value);
    const owned = !field.declared || value === null || (isObject(value) && isEmptyObject(value));
    const node = owned ? asMember(inner) : inner;
    if (!node) continue;
    set ??= {};
    set[field.element] = node;
  }
  return set;
}

function fieldsOfList(type: ListType, items: readonly unknown[]): FieldSet | undefined {
  let set: Record<string, FieldSet> | undefined;
  for (const item of items) {
    const element = itemElementOrNone(type, item);
    set ??= {};
    // Items that occur more than once are owned as a whole.
    set[element] = set[element] === undefined ? asMember(fieldsOf(type.item, item)) : MEMBER;
  }
  return set;
}

function asMember(node: FieldSet | undefined): FieldSet {
  return node === undefined || isEmpty(node) ? MEMBER : { ".": MEMBER, ...node };
}
