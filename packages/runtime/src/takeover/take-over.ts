import type { Client } from "@konverge/client";
import {
  type AnyObject,
  deepEqual,
  isConflict,
  type KindRef,
  type KubeObject,
  type ManagedFieldsEntry,
  type ObjectKey,
} from "@konverge/core";
import { fieldSet } from "@konverge/schema/structured-merge";

/** What is adopted, and by which manager. */
export interface AdoptFieldsOptions {
  /** Whose fields: field managers, as `kubectl get --show-managed-fields` shows them. */
  from: readonly string[];
  /** The field manager that owns them afterwards: the controller's name. */
  to: string;
  /** Finalizers of the other operator to remove. */
  removeFinalizers?: readonly string[];
  removeLabels?: readonly string[];
  removeAnnotations?: readonly string[];
}

/** How often it is retried when another client writes at the same time. */
const TRIES = 5;

/**
 * Moves the ownership of fields from another operator to this one: fields that `from` owned by update or apply are from now on
 * owned by the server-side apply of `to`, so that a field that a reconciler no longer returns is removed. Without it, such
 * fields stay forever, since their first owner never releases them.
 *
 * Fields of other managers and all values stay as they are. Resolves to the object; does nothing if there is nothing to do.
 */
export async function adoptFields<T extends KubeObject>(
  client: Client,
  kind: KindRef<T>,
  key: ObjectKey,
  options: AdoptFieldsOptions,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const live = await client.get(kind, key);
    const metadata = adoptedFieldsPatch(live, options);
    if (!metadata) return live;
    const { uid, resourceVersion } = live.metadata;
    const merge = { metadata: { ...metadata, uid, resourceVersion } };
    try {
      return (await client.patch(kind as KindRef<KubeObject> as KindRef<AnyObject>, key, { merge } as never)) as never;
    } catch (error) {
      if (!isConflict(error) || tries === TRIES) throw error;
    }
  }
}

/** The metadata that an adopted object has and this one does not, as a merge patch; undefined if there is none. */
function adoptedFieldsPatch(
  { metadata }: KubeObject,
  options: AdoptFieldsOptions,
): Record<string, unknown> | undefined {
  const { removeFinalizers = [], removeLabels = [], removeAnnotations = [] } = options;
  const { finalizers = [], managedFields = [] } = metadata;
  const kept = finalizers.filter((name) => !removeFinalizers.includes(name));
  const entries = migrated(managedFields, options);
  const labels = removals(metadata.labels, removeLabels);
  const annotations = removals(metadata.annotations, removeAnnotations);
  const patch = {
    ...(!deepEqual(entries, managedFields) && { managedFields: entries }),
    ...(kept.length < finalizers.length && { finalizers: kept }),
    ...(labels && { labels }),
    ...(annotations && { annotations }),
  };
  return Object.keys(patch).length > 0 ? patch : undefined;
}

/** The entries with those of `from` as part of the applies of `to`: for each subresource and version one. */
function migrated(entries: readonly ManagedFieldsEntry[], { from, to }: AdoptFieldsOptions): ManagedFieldsEntry[] {
  const isTaken = ({ manager = "", operation }: ManagedFieldsEntry) =>
    from.includes(manager) && !(manager === to && operation === "Apply");
  if (!entries.some(isTaken)) return [...entries];
  const place = ({ subresource = "", apiVersion = "" }: ManagedFieldsEntry) => `${subresource} ${apiVersion}`;
  const ours = new Map<string, ManagedFieldsEntry>();
  for (const entry of entries) {
    if (!isTaken(entry) && !(entry.manager === to && entry.operation === "Apply")) continue;
    const known = ours.get(place(entry));
    const fieldsV1 = fieldSet.union(known?.fieldsV1 ?? {}, entry.fieldsV1 ?? {});
    ours.set(place(entry), {
      ...entry,
      ...(known?.time && { time: known.time }),
      manager: to,
      operation: "Apply",
      fieldsV1,
    });
  }
  const others = entries.filter((entry) => !isTaken(entry) && !(entry.manager === to && entry.operation === "Apply"));
  return [...ours.values(), ...others];
}

function removals(present: Readonly<Record<string, string>> | undefined, names: readonly string[]) {
  const found = names.filter((name) => present?.[name] !== undefined);
  return found.length > 0 ? Object.fromEntries(found.map((name) => [name, null])) : undefined;
}
