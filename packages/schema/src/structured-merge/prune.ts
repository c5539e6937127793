import type { JsonObject } from "@konverge/core";
import { difference, EMPTY, type FieldSet, intersection, isEmpty, union } from "./field-set.ts";
import type { Managers, OwnedFields } from "./managers.ts";
import { type MergeType, UNTYPED } from "./merge-type.ts";
import { removeItems } from "./remove-items.ts";
import { toFieldSet } from "./to-field-set.ts";
import type { Converter, Typed } from "./typed.ts";

/**
 * Takes away what a manager applied last time (`last`), does not apply now, and no other manager owns.
 *
 * Parents of owned fields count as owned here, so that a struct goes with the last of its fields; but a field is only
 * ever taken away if it, or such a parent of it, was in `last`.
 */
export function pruneUnknownFields(
  merged: Typed,
  managers: Managers,
  manager: string,
  last: OwnedFields,
  convert: Converter,
): Typed {
  const current = managers.get(manager)!;
  if (last.apiVersion === current.apiVersion && isEmpty(difference(last.set, current.set))) return merged;
  const before = at(merged, last.apiVersion, convert);
  if (!before) return merged;
  let pruned: Typed = without(before, withNamedParents(last.set, before.type));
  pruned = addBackOwned(before, pruned, managers, convert);
  pruned = addBackDangling(before, pruned, last, convert) ?? before;
  return at(pruned, current.apiVersion, convert) ?? pruned;
}

function at(typed: Typed, apiVersion: string, convert: Converter): Typed | undefined {
  return typed.apiVersion === apiVersion ? typed : convert(typed, apiVersion);
}

function without(typed: Typed, items: FieldSet): Typed {
  return { ...typed, object: removeItems(typed.type, typed.object, items) as JsonObject };
}

/**
 * Restores what other managers own, version by version; the pruned object's own version first, as it needs no
 * conversion.
 */
function addBackOwned(merged: Typed, pruned: Typed, managers: Managers, convert: Converter): Typed {
  const byVersion = new Map<string, FieldSet>([[pruned.apiVersion, EMPTY]]);
  for (const { apiVersion, set } of managers.values()) {
    byVersion.set(apiVersion, union(byVersion.get(apiVersion) ?? EMPTY, set));
  }
  let [whole, rest] = [merged, pruned];
  for (const [apiVersion, owned] of byVersion) {
    if (isEmpty(owned)) continue;
    const [wholeThere, restThere] = [at(whole, apiVersion, convert), at(rest, apiVersion, convert)];
    if (!wholeThere || !restThere) continue;
    const { type } = wholeThere;
    const named = (set: FieldSet) => withNamedParents(set, type);
    const kept = union(named(toFieldSet(type, restThere.object)), named(owned));
    whole = wholeThere;
    rest = without(whole, difference(named(toFieldSet(type, whole.object)), kept));
  }
  return rest;
}

/** Restores what no manager owns and this manager did not apply either. */
function addBackDangling(merged: Typed, pruned: Typed, last: OwnedFields, convert: Converter): Typed | undefined {
  const rest = at(pruned, last.apiVersion, convert);
  if (!rest) return undefined;
  const { type } = merged;
  const named = (set: FieldSet) => withNamedParents(set, type);
  const removed = difference(named(toFieldSet(type, merged.object)), named(toFieldSet(type, rest.object)));
  return without(merged, intersection(removed, named(last.set)));
}

/** The set with every declared field that lies above a member. */
function withNamedParents(set: FieldSet, type: MergeType): FieldSet {
  let result: Record<string, FieldSet> | undefined;
  for (const element in set) {
    if (element === ".") continue;
    const node = set[element]!;
    if (isEmpty(node)) continue;
    const field = element.startsWith("f:") ? type.map?.field(element.slice(2)) : undefined;
    let named = withNamedParents(node, (element.startsWith("k:") ? type.list?.item : field?.type) ?? UNTYPED);
    if (field?.declared && named["."] === undefined) named = { ".": {}, ...named };
    if (named === node) continue;
    result ??= { ...set };
    result[element] = named;
  }
  return result ?? set;
}
