import { deepEqual, goText, goType, type Schema } from "@konverge/core";
import { isEmpty, isObject, type JsonObject, own, put } from "../json-value.ts";
import { DELETE_FROM_LIST, DIRECTIVE, ELEMENT_ORDER, mergeKeyOf, RETAIN_KEYS } from "./directives.ts";
import { listField, objectField, type PatchField } from "./patch-field.ts";
import { byRank, elementKind, ranks } from "./strategic-lists.ts";
import { mergeObjects } from "./strategic-merge.ts";

/** Which half of a difference is wanted. */
interface Wanted {
  changes: boolean;
  deletions: boolean;
}

/** The strategic merge patch that makes `to` of `from`, two objects of the same built-in kind. */
export function createTwoWayStrategicPatch(from: object, to: object, schema: Schema): JsonObject {
  return diffObjects(from as JsonObject, to as JsonObject, schema, { changes: true, deletions: true }, false);
}

/**
 * The strategic merge patch by which `kubectl apply` brings an object of a built-in kind from `current` to `modified`:
 * what `modified` says is added or changed; what `original` (the configuration applied last time) said and `modified` no
 * longer says is deleted; what others have added stays.
 */
export function createThreeWayStrategicPatch(
  original: object,
  modified: object,
  current: object,
  schema: Schema,
): JsonObject {
  const target = modified as JsonObject;
  const changes = diffObjects(current as JsonObject, target, schema, { changes: true, deletions: false }, false);
  const deletions = diffObjects(original as JsonObject, target, schema, { changes: false, deletions: true }, false);
  return mergeObjects(deletions, changes, schema, "combine");
}

function diffObjects(from: JsonObject, to: JsonObject, schema: Schema, wanted: Wanted, retain: boolean): JsonObject {
  const patch: JsonObject = {};
  for (const key of Object.keys(to)) diffKey(patch, key, own(from, key), to[key], schema, wanted);
  const gone = Object.keys(from).filter((key) => !Object.hasOwn(to, key));
  if (wanted.deletions) for (const key of gone) put(patch, key, null);
  if (retain) {
    const keys = Object.keys(to).filter((key) => to[key] !== null);
    if (keys.length > 0 && (!isEmpty(patch) || gone.some((key) => from[key] !== null))) {
      patch[RETAIN_KEYS] = keys.sort();
    }
  }
  return patch;
}

function diffKey(
  patch: JsonObject,
  key: string,
  before: unknown,
  after: unknown,
  schema: Schema,
  wanted: Wanted,
): void {
  if (isObject(before) && isObject(after)) {
    if (isUnknownAndEqual(schema, key, before, after)) return;
    const field = objectField(schema, key);
    if (field.strategy === "replace") {
      if (wanted.changes) put(patch, key, after);
      return;
    }
    const inner = diffObjects(before, after, field.schema, wanted, field.retainKeys);
    if (!isEmpty(inner)) put(patch, key, inner);
  } else if (Array.isArray(before) && Array.isArray(after)) {
    if (isUnknownAndEqual(schema, key, before, after)) return;
    const field = listField(schema, key);
    if (field.strategy === "merge") diffLists(patch, key, before, after, field, wanted);
    else if (wanted.changes && !deepEqual(before, after)) put(patch, key, after);
  } else if (wanted.changes && !deepEqual(before, after)) {
    put(patch, key, after);
  }
}

/** A field that the schema does not know is no trouble as long as nothing is to be said about it. */
function isUnknownAndEqual(schema: Schema, key: string, before: unknown, after: unknown): boolean {
  return !(schema.properties && Object.hasOwn(schema.properties, key)) && deepEqual(before, after);
}

function diffLists(
  patch: JsonObject,
  key: string,
  before: unknown[],
  after: unknown[],
  field: PatchField,
  wanted: Wanted,
): void {
  if (before.length === 0) {
    if (wanted.changes && after.length > 0) put(patch, key, after);
    return;
  }
  if (elementKind(before, after) === "scalar") {
    const added = wanted.changes ? lacking(after, before) : [];
    const removed = wanted.deletions ? lacking(before, after) : [];
    if (added.length > 0) put(patch, key, byRank(added, ranks(after, ""), ""));
    if (removed.length > 0) patch[`${DELETE_FROM_LIST}/${key}`] = [...new Set(removed)];
    // kubectl compares with a sorted list, so it spells out any other order, even one that has not changed. We do so
    // too, and also where it would miss that a list has been put in sorted order.
    const reordered = wanted.changes && !(deepEqual(before, after) && deepEqual(sorted(before), after));
    if ((reordered || removed.length > 0) && after.length > 0) patch[`${ELEMENT_ORDER}/${key}`] = after;
    return;
  }
  const { mergeKey } = field;
  const items = diffItems(before as JsonObject[], after as JsonObject[], field, wanted);
  if (items.length > 0) put(patch, key, items);
  const reordered = wanted.changes && !sameOrder(before, after, mergeKey);
  if ((items.length > 0 || reordered) && after.length > 0) {
    patch[`${ELEMENT_ORDER}/${key}`] = after.map((item) => ({ [mergeKey]: mergeKeyOf(item, mergeKey) }));
  }
}

/** What `of` has and `other` lacks, sorted, with as many repetitions as it has more. */
function lacking(of: unknown[], other: unknown[]): unknown[] {
  const counts = new Map<string, number>();
  for (const item of other) counts.set(goText(item), (counts.get(goText(item)) ?? 0) + 1);
  return sorted(of).filter((item) => {
    const left = counts.get(goText(item)) ?? 0;
    counts.set(goText(item), left - 1);
    return left <= 0;
  });
}

function sorted(items: unknown[]): unknown[] {
  return [...items].sort((a, b) => (goText(a) < goText(b) ? -1 : goText(a) > goText(b) ? 1 : 0));
}

/** Changed and new items in the order of `after`, then the deletions. */
function diffItems(before: JsonObject[], after: JsonObject[], field: PatchField, wanted: Wanted): JsonObject[] {
  const { mergeKey } = field;
  const textOf = (item: JsonObject) => goText(mergeKeyOf(item, mergeKey));
  const old = new Map(before.map((item) => [textOf(item), item]));
  const changed: JsonObject[] = [];
  const found = new Set<string>();
  for (const item of after) {
    const text = textOf(item);
    found.add(text);
    const counterpart = old.get(text);
    if (!counterpart) {
      if (wanted.changes) changed.push(item);
      continue;
    }
    const inner = diffObjects(counterpart, item, field.schema, wanted, field.retainKeys);
    if (!isEmpty(inner)) changed.push({ ...inner, [mergeKey]: item[mergeKey] });
  }
  if (!wanted.deletions) return changed;
  const gone = [...old].filter(([text]) => !found.has(text)).sort(([a], [b]) => (a < b ? -1 : 1));
  return [...changed, ...gone.map(([, item]) => ({ [mergeKey]: item[mergeKey], [DIRECTIVE]: "delete" }))];
}

function sameOrder(before: unknown[], after: unknown[], mergeKey: string): boolean {
  if (before.length !== after.length) return false;
  return after.every((item, index) => {
    const [a, b] = [mergeKeyOf(before[index], mergeKey), mergeKeyOf(item, mergeKey)];
    return a === b && goType(a) === goType(b);
  });
}
