import type { ManagedFieldsEntry } from "@konverge/core";
import { decodeFieldSet } from "./decode-fields.ts";
import { sorted, union } from "./field-set.ts";

/**
 * managedFields in which `applier` owns, by apply, what `updater` owned by updating: for moving from updates
 * (client-side apply, another operator) to server-side apply. Without it, fields that the updater once set and no
 * manager applies would stay forever. The updater's fields are taken in the version that the applier uses; its entries
 * in other versions are dropped.
 *
 * Write the result with the object's resourceVersion, so that no write in between is lost.
 */
export function takeOver(
  managedFields: readonly ManagedFieldsEntry[] | undefined,
  updater: string,
  applier: string,
  subresource = "",
): ManagedFieldsEntry[] | undefined {
  if (!managedFields) return undefined;
  const isOf = (manager: string, operation: string) => (entry: ManagedFieldsEntry) =>
    entry.manager === manager && entry.operation === operation && (entry.subresource ?? "") === subresource;
  const isUpdaters = isOf(updater, "Update");
  const target = managedFields.find(isOf(applier, "Apply")) ?? managedFields.find(isUpdaters);
  if (!target) return [...managedFields];
  const source = managedFields.find((entry) => isUpdaters(entry) && entry.apiVersion === target.apiVersion);
  const fields = [target, source].map((entry) => decodeFieldSet(entry?.fieldsV1)).reduce(union);
  const taken: ManagedFieldsEntry = {
    ...target,
    manager: applier,
    operation: "Apply",
    fieldsV1: sorted(fields),
  };
  const result = managedFields
    .filter((entry) => entry === target || !isUpdaters(entry))
    .map((entry) => (entry === target ? taken : entry));
  return result.length > 0 ? result : undefined;
}
