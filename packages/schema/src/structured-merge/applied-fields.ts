import type { ManagedFieldsEntry, Schema } from "@konverge/core";
import type { JsonObject } from "../json-value.ts";
import { decodeFieldSet } from "./decode-fields.ts";
import { ownable } from "./field-manager.ts";
import { type FieldSet, leaves } from "./field-set.ts";
import { objectTypeOf } from "./merge-type.ts";
import { extractItems } from "./remove-items.ts";
import { toFieldSet } from "./to-field-set.ts";
import type { FieldFilter } from "./updater.ts";

/**
 * The fields that the API server will record for whoever applies this object. `reset` takes out what the endpoint
 * resets: `excludeFields(["f:status"])`.
 */
export function appliedFields(schema: Schema, applied: JsonObject, reset: FieldFilter = (set) => set): FieldSet {
  return ownable(reset(toFieldSet(objectTypeOf(schema), applied)));
}

/**
 * A few bytes that stand for a field set: equal for equal sets, whatever the order of their keys, and for different ones
 * different but for one case in 2^64. Comparing the digest of our entry in an object's managedFields with that of
 * {@link appliedFields} tells whether applying would take or give up a field, without keeping managedFields:
 *
 * ```ts
 * const wouldChangeOwnership = fieldSetDigest(entry.fieldsV1) !== fieldSetDigest(appliedFields(schema, desired));
 * ```
 */
export function fieldSetDigest(fields: FieldSet | undefined): string {
  const sums: [number, number] = [0, 0];
  if (fields) addMembers(decodeFieldSet(fields), 0x9e3779b9, 0x85ebca6b, sums);
  return sums.map((sum) => (sum >>> 0).toString(16).padStart(8, "0")).join("");
}

/** Members are summed up, so that their order does not matter. */
function addMembers(set: FieldSet, left: number, right: number, sums: [number, number]): void {
  for (const element in set) {
    if (element === ".") continue;
    let [a, b] = [left, right];
    for (let i = 0; i < element.length; i++) {
      const unit = element.charCodeAt(i);
      a = Math.imul(a ^ unit, 0x01000193);
      b = Math.imul(b ^ unit, 0xcc9e2d51);
    }
    a = scattered(a);
    b = scattered(b);
    const node = set[element]!;
    let isLeaf = true;
    for (const _ in node) isLeaf = false;
    if (isLeaf || node["."] !== undefined) {
      sums[0] = (sums[0] + scattered(a ^ 0x2545f491)) | 0;
      sums[1] = (sums[1] + scattered(b ^ 0x6c62272e)) | 0;
    }
    addMembers(node, a, b, sums);
  }
}

/** Every bit of the result depends on every bit of the argument. */
function scattered(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** What `manager` has applied to an object, as it could apply it again; undefined if it never has. */
export function extractApplied(
  schema: Schema,
  object: JsonObject,
  manager: string,
  subresource = "",
): JsonObject | undefined {
  const { managedFields } = (object["metadata"] ?? {}) as { managedFields?: ManagedFieldsEntry[] };
  const entry = managedFields?.find(
    (candidate) =>
      candidate.manager === manager && candidate.operation === "Apply" && (candidate.subresource ?? "") === subresource,
  );
  if (!entry) return undefined;
  const part = extractItems(objectTypeOf(schema), object, leaves(decodeFieldSet(entry.fieldsV1)));
  return { apiVersion: object["apiVersion"], kind: object["kind"], ...(part as JsonObject) };
}
