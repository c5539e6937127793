import type { FieldsV1, KubeObject, ManagedFieldsEntry } from "@konverge/core";

/**
 * What a field manager of ours has applied to an object: all that is kept of managedFields. A field that we applied once
 * and no longer want is nowhere else to be seen.
 */
export interface OwnFields {
  /** Applied to the object itself. */
  readonly object?: FieldsV1;
  /** Applied to its status. */
  readonly status?: FieldsV1;
}

/** The entries of `manager` in an object's managedFields. */
export function ownFieldsOf(object: KubeObject, manager: string): OwnFields | undefined {
  let object_: FieldsV1 | undefined;
  let status: FieldsV1 | undefined;
  for (const entry of object.metadata.managedFields ?? []) {
    if (entry.operation !== "Apply" || entry.manager !== manager || !entry.fieldsV1) continue;
    if (isStatus(entry)) status = entry.fieldsV1;
    else if (!entry.subresource) object_ = entry.fieldsV1;
  }
  return object_ || status ? { ...(object_ && { object: object_ }), ...(status && { status }) } : undefined;
}

const isStatus = (entry: ManagedFieldsEntry) => entry.subresource === "status";
