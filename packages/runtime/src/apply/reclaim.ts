import type { Client } from "@konverge/client";
import type { AnyObject, FieldsV1, KindRef, KubeObject, ManagedFieldsEntry, ObjectKey } from "@konverge/core";
import { fieldSet } from "@konverge/schema/structured-merge";
import type { ItemPlace } from "./renamed-items.ts";

/**
 * Makes items of lists, which others have changed by hand, the applies of `manager` again, so that its next apply
 * removes those that it does not name. What others have applied stays theirs: they mean it. Changes no value.
 *
 * Resolves to the object as it is then; undefined if no manager owns one of the items by an update.
 */
export async function reclaim(
  client: Client,
  kind: KindRef<KubeObject>,
  key: ObjectKey,
  { places, manager }: { places: readonly ItemPlace[]; manager: string },
): Promise<KubeObject | undefined> {
  const live = await client.get(kind, key);
  const { uid, resourceVersion, managedFields = [] } = live.metadata;
  const entries = reclaimed(managedFields, places, manager);
  if (!entries) return undefined;
  const merge = { metadata: { uid, resourceVersion, managedFields: entries } };
  return client.patch(kind as KindRef<AnyObject>, key, { merge } as never);
}

/** The entries with these items as part of the applies of `manager`; undefined if no manager owns them by an update. */
export function reclaimed(
  entries: readonly ManagedFieldsEntry[],
  places: readonly ItemPlace[],
  manager: string,
): ManagedFieldsEntry[] | undefined {
  let taken: FieldsV1 = fieldSet.EMPTY;
  const others = entries.flatMap((entry) => {
    if (entry.operation !== "Update" || entry.subresource || !entry.fieldsV1) return [entry];
    const theirs = places.reduce(
      (fields, place) => fieldSet.union(fields, within(entry.fieldsV1!, place)),
      fieldSet.EMPTY,
    );
    if (fieldSet.isEmpty(theirs)) return [entry];
    taken = fieldSet.union(taken, theirs);
    const rest = fieldSet.difference(entry.fieldsV1, theirs);
    return fieldSet.isEmpty(rest) ? [] : [{ ...entry, fieldsV1: rest }];
  });
  if (fieldSet.isEmpty(taken)) return undefined;
  const isOurs = (entry: ManagedFieldsEntry) =>
    entry.manager === manager && entry.operation === "Apply" && !entry.subresource;
  const ours = others.find(isOurs);
  if (!ours) return undefined;
  return others.map((entry) =>
    entry === ours ? { ...ours, fieldsV1: fieldSet.union(ours.fieldsV1 ?? {}, taken) } : entry,
  );
}

/** Of a field set, what is in one item of a list. */
function within(fields: FieldsV1, place: ItemPlace): FieldsV1 {
  const elements: string[] = [];
  let node = fields;
  for (const step of place) {
    const element = typeof step === "string" ? `f:${step}` : Object.keys(node).find((path) => isKeyOf(path, step));
    const inner = element === undefined ? undefined : node[element];
    if (element === undefined || inner === undefined) return fieldSet.EMPTY;
    elements.push(element);
    node = inner;
  }
  return elements.reduceRight<FieldsV1>((inner, element) => ({ [element]: inner }), node);
}

function isKeyOf(path: string, item: Readonly<Record<string, unknown>>): boolean {
  if (!path.startsWith("k:")) return false;
  return Object.entries(JSON.parse(path.slice(2)) as object).every(([name, value]) => item[name] === value);
}
