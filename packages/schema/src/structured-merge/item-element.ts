import { isObject, quoted } from "@konverge/core";
import { own } from "../json-value.ts";
import type { ListType } from "./merge-type.ts";
import { elementJson, keyElement, valueElement } from "./path-element.ts";

/** An item that nothing distinguishes from its neighbors. */
export class ItemError extends Error {}

/** The path element of an item of a list that is not atomic. */
export function itemElement(list: ListType, item: unknown): string {
  return list.keyNames.length > 0 ? keyedItem(list, item) : setItem(item);
}

/**
 * The same for items that need not make sense: taking fields away can leave a null in a list for a moment. All such items
 * share one element that no path in managedFields has.
 */
export function itemElementOrNone(list: ListType, item: unknown): string {
  try {
    return itemElement(list, item);
  } catch (error) {
    if (error instanceof ItemError) return "";
    throw error;
  }
}

function keyedItem(list: ListType, item: unknown): string {
  if (item === null) throw new ItemError("associative list with keys may not have a null element");
  if (!isObject(item)) throw new ItemError("associative list with keys may not have non-map elements");
  const { keys } = list;
  if (keys.length === 1) {
    const value = keyValue(item, keys[0]!);
    if (value !== undefined) return `k:{"${keys[0]!.name}":${elementJson(value)}}`;
  }
  const found: [string, unknown][] = [];
  for (const key of keys) {
    const value = keyValue(item, key);
    if (value !== undefined) found.push([key.name, value]);
  }
  if (found.length === 0) {
    const names = list.keyNames.map(quoted).join(" ");
    throw new ItemError(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    );
  }
  return keyElement(found);
}

function keyValue(item: Record<string, unknown>, key: ListType["keys"][number]): unknown {
  const value = own(item, key.name);
  return value === undefined ? key.default : value;
}

function setItem(item: unknown): string {
  if (item === null) throw new ItemError("associative list without keys has an element that's an explicit null");
  if (Array.isArray(item)) throw new ItemError("not supported: associative list with lists as elements");
  if (isObject(item)) throw new ItemError("associative list without keys has an element that's a map type");
  return valueElement(item);
}
