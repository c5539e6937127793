import { isObject, type JsonObject } from "@konverge/core";
import { isEmpty, put } from "../json-value.ts";
import { below, type FieldSet, hasMember } from "./field-set.ts";
import { itemElementOrNone } from "./item-element.ts";
import { formOf, type ListType, type MapType, type MergeType } from "./merge-type.ts";

/**
 * The object without the fields of a set. A container that loses all it has becomes null. What nothing is taken from is
 * shared with `object`.
 */
export function removeItems(type: MergeType, object: unknown, items: FieldSet): unknown {
  switch (formOf(type, object)) {
    case "scalar":
      return object;
    case "list":
      if (!Array.isArray(object) || object.length === 0 || type.list!.atomic) return null;
      return removeFromList(type.list!, object, items);
    case "map":
      if (!isObject(object) || isEmpty(object) || type.map!.atomic) return null;
      return removeFromMap(type.map!, object, items);
  }
}

function removeFromList(type: ListType, list: readonly unknown[], items: FieldSet): unknown {
  let changed = false;
  const kept: unknown[] = [];
  for (const item of list) {
    const element = itemElementOrNone(type, item);
    if (hasMember(items, element)) {
      changed = true;
      continue;
    }
    const inner = below(items, element);
    const rest = inner ? removeItems(type.item, item, inner) : item;
    changed ||= rest !== item;
    kept.push(rest);
  }
  if (!changed) return list;
  return kept.length > 0 ? kept : null;
}

function removeFromMap(type: MapType, map: JsonObject, items: FieldSet): unknown {
  const kept: JsonObject = {};
  let changed = false;
  for (const name in map) {
    const value = map[name];
    const field = type.field(name);
    if (hasMember(items, field.element)) {
      changed = true;
      continue;
    }
    const inner = below(items, field.element);
    const rest = inner ? removeItems(field.type ?? {}, value, inner) : value;
    changed ||= rest !== value;
    put(kept, name, rest);
  }
  if (!changed) return map;
  return isEmpty(kept) ? null : kept;
}
