import { goText, goType, isObject, type JsonObject } from "@konverge/core";
import { DIRECTIVE, mergeKeyOf, unknownDirective } from "./directives.ts";
import { goKind, type PatchField } from "./patch-field.ts";
import { internal, unprocessable } from "./refusals.ts";

/**
 * Merges two lists: objects by their merge key, scalars as a set. The patch's own order is kept, and items that only the
 * original has stay between the neighbors they had.
 */
export function mergeLists(
  original: unknown[],
  patch: unknown[],
  field: PatchField,
  deletes: boolean,
  mergeItems: (original: JsonObject, patch: JsonObject) => JsonObject,
): unknown[] {
  if (original.length === 0 && patch.length === 0) return original;
  if (elementKind(original, patch) === "scalar") {
    if (deletes) {
      const removed = new Set(patch);
      return original.filter((item) => !removed.has(item));
    }
    return interleave([...new Set([...original, ...patch])], patch, original, "");
  }
  const { mergeKey } = field;
  if (mergeKey === "") throw internal(`cannot merge lists without merge key for ${goKind(field.schema)}`);
  const { kept, changes } = obeyItemDirectives(original as JsonObject[], patch as JsonObject[], mergeKey);
  const merged = [...kept];
  const places = placesByKey(merged, mergeKey);
  for (const change of changes) {
    const key = mergeKeyOf(change, mergeKey);
    const at = places.get(key);
    if (at === undefined) places.set(key, merged.push(change) - 1);
    else merged[at] = mergeItems(merged[at]!, change);
  }
  return interleave(merged, changes, kept, mergeKey);
}

/** Where the first item with each merge key stands. */
function placesByKey(items: readonly JsonObject[], mergeKey: string): Map<unknown, number> {
  const places = new Map<unknown, number>();
  items.forEach((item, index) => {
    if (!isObject(item) || !Object.hasOwn(item, mergeKey) || places.has(item[mergeKey])) return;
    places.set(item[mergeKey], index);
  });
  return places;
}

/** Carries out `$patch` items of a list: what remains of the original, and the plain items of the patch. */
function obeyItemDirectives(original: JsonObject[], patch: JsonObject[], mergeKey: string) {
  const deleted = new Set<unknown>();
  let replaces = false;
  const changes: JsonObject[] = [];
  for (const item of patch) {
    if (!Object.hasOwn(item, DIRECTIVE)) {
      changes.push(item);
      continue;
    }
    switch (item[DIRECTIVE]) {
      case "delete":
        deleted.add(mergeKeyOf(item, mergeKey));
        break;
      case "replace":
        replaces = true;
        break;
      case "merge":
        throw internal("merging lists cannot yet be specified in the patch");
      default:
        throw unknownDirective(item[DIRECTIVE], item);
    }
  }
  if (replaces) return { kept: changes, changes: [] };
  const kept = original.filter((item) => !Object.hasOwn(item, mergeKey) || !deleted.has(item[mergeKey]));
  return { kept, changes };
}

/** Puts a merged list in the order that `$setElementOrder` asks for. */
export function orderAsAsked(
  merged: unknown[],
  order: unknown[],
  original: unknown[],
  patch: unknown[],
  mergeKey: string,
): unknown[] {
  elementKind(original, patch);
  return interleave(merged, order, original, mergeKey);
}

/**
 * Items that `patchOrder` names come in its order; the others come in `liveOrder`, each before the first of the former
 * that follows it there.
 */
function interleave(items: unknown[], patchOrder: unknown[], liveOrder: unknown[], mergeKey: string): unknown[] {
  const patchRank = ranks(patchOrder, mergeKey);
  const liveRank = ranks(liveOrder, mergeKey);
  const named: unknown[] = [];
  const others: unknown[] = [];
  for (const item of items) (patchRank.has(mergeKeyOf(item, mergeKey)) ? named : others).push(item);
  const left = byRank(others, liveRank, mergeKey);
  const right = byRank(named, patchRank, mergeKey);
  const result: unknown[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length || r < right.length) {
    if (r === right.length) result.push(left[l++]);
    else if (l === left.length) result.push(right[r++]);
    else {
      const leftRank = liveRank.get(mergeKeyOf(left[l], mergeKey));
      const rightRank = liveRank.get(mergeKeyOf(right[r], mergeKey));
      const leftFirst = leftRank !== undefined && rightRank !== undefined && leftRank < rightRank;
      result.push(leftFirst ? left[l++] : right[r++]);
    }
  }
  return result;
}

/** Sorts by rank; items marked for deletion go last. */
function byRank(items: unknown[], rank: Map<unknown, number>, mergeKey: string): unknown[] {
  const isDeletion = (item: unknown) => mergeKey !== "" && (item as JsonObject)[DIRECTIVE] === "delete";
  const rankOf = (item: unknown) => rank.get(mergeKeyOf(item, mergeKey)) ?? -1;
  const kept = items.filter((item) => !isDeletion(item)).sort((a, b) => rankOf(a) - rankOf(b));
  return [...kept, ...items.filter(isDeletion)];
}

/** Where each item first stands. */
function ranks(order: unknown[], mergeKey: string): Map<unknown, number> {
  const rank = new Map<unknown, number>();
  order.forEach((item, index) => {
    const key = mergeKeyOf(item, mergeKey);
    if (!rank.has(key)) rank.set(key, index);
  });
  return rank;
}

/** Lists merge only if all their items are of one kind, and that is not a list. */
function elementKind(...lists: unknown[][]): "object" | "scalar" {
  let kind: string | undefined;
  for (const item of lists.flat()) {
    const type = goType(item);
    if (kind === undefined) {
      if (Array.isArray(item)) throw unprocessable("lists of lists are not supported");
      kind = type;
    } else if (kind !== type) {
      throw internal(`list element types are not identical: ${goText(lists)}`);
    }
  }
  if (kind === undefined) throw internal("no elements in any of the given slices");
  return kind.startsWith("map") ? "object" : "scalar";
}
