import { deepEqual, isObject, type JsonObject } from "@konverge/core";
import { isEmpty, own, put } from "../json-value.ts";
import { itemElement } from "./item-element.ts";
import { formOf, type ListType, type MapType, type MergeType } from "./merge-type.ts";

/**
 * Lays an applied configuration over a live object: every field of the configuration wins, every other field stays.
 * Items of lists keep the live order unless the configuration orders them differently. What the configuration does not
 * change is shared with `live`; the result is `live` itself when it changes nothing.
 */
export function merge(type: MergeType, live: unknown, applied: unknown): unknown {
  if (applied === undefined || live === applied) return live;
  const form = formOf(type, applied);
  if (form === "map" && !type.map!.atomic) {
    const [left, right] = [isObject(live) ? live : undefined, isObject(applied) ? applied : undefined];
    if (!(isBare(left) && isBare(right))) return mergeMaps(type.map!, left, right ?? {});
  } else if (form === "list" && !type.list!.atomic) {
    const [left, right] = [Array.isArray(live) ? live : [], Array.isArray(applied) ? applied : []];
    if (left.length > 0 || right.length > 0) return mergeLists(type.list!, left, right);
  }
  return live !== undefined && deepEqual(live, applied) ? live : applied;
}

function isBare(map: JsonObject | undefined): boolean {
  return map === undefined || isEmpty(map);
}

function mergeMaps(type: MapType, live: JsonObject | undefined, applied: JsonObject): JsonObject {
  let merged: JsonObject | undefined;
  for (const name in applied) {
    const before = live && own(live, name);
    const field = type.field(name);
    const after = field.type ? merge(field.type, before, applied[name]) : applied[name];
    if (after === before) continue;
    merged ??= { ...live };
    put(merged, name, after);
  }
  return merged ?? live ?? {};
}

function mergeLists(type: ListType, live: readonly unknown[], applied: readonly unknown[]): unknown {
  const liveItems = index(type, live);
  const appliedItems = index(type, applied);
  const merged = inMergedOrder(liveItems.elements, appliedItems.elements).map(({ element, liveIndex }) => {
    const mine = appliedItems.byElement.get(element);
    if (mine === undefined) return live[liveIndex!];
    return merge(type.item, liveItems.byElement.get(element), mine);
  });
  return Array.isArray(live) && sameItems(merged, live) ? live : merged;
}

function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i]);
}

/** Elements in order and the items they name. An item that occurs more than once cannot be merged: it counts as null. */
function index(type: ListType, items: readonly unknown[]) {
  const elements = items.map((item) => itemElement(type, item));
  const byElement = new Map<string, unknown>();
  elements.forEach((element, i) => {
    byElement.set(element, byElement.has(element) ? null : items[i]);
  });
  return { elements, byElement };
}

interface Slot {
  element: string;
  /** For an item that only the live list has. */
  liveIndex?: number;
}

/**
 * Interleaves two orders. Applied items come in the applied order; live items that are not applied stay where they are
 * relative to the shared item that follows them, as far as the applied order lets them.
 */
function inMergedOrder(live: readonly string[], applied: readonly string[]): Slot[] {
  const liveSet = new Set(live);
  const appliedSet = new Set(applied);
  const shared = applied.filter((element) => liveSet.has(element));
  const done = new Set<string>();
  const slots: Slot[] = [];
  let nextShared = 0;
  let l = 0;
  let a = 0;
  while (l < live.length || a < applied.length) {
    const left = live[l];
    const right = applied[a];
    if (left !== undefined && right !== undefined) {
      if (left === right) {
        done.add(right);
        slots.push({ element: right });
        l++;
        a++;
        nextShared++;
        continue;
      }
      if (appliedSet.has(left) && nextShared < shared.length && shared[nextShared] !== left) {
        // Shared, but its turn comes later in the applied order.
        l++;
        continue;
      }
    }
    if (left !== undefined) {
      if (!appliedSet.has(left)) {
        slots.push({ element: left, liveIndex: l });
        l++;
        continue;
      }
      if (done.has(left)) l++;
    }
    if (right !== undefined) {
      done.add(right);
      slots.push({ element: right });
      a++;
      if (shared[nextShared] === right) nextShared++;
    }
  }
  return slots;
}
