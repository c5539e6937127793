import { ApiError, parseJson, stringifyJson } from "@konverge/core";
import type { WorkingObject } from "../codec/working-object.ts";
import type { Entry } from "../storage/entry.ts";
import type { EntryContent } from "../storage/store.ts";
import type { ResourceDefinition } from "./definition.ts";

/** The key of an object in its collection. */
export function storageKey(definition: ResourceDefinition, namespace: string | undefined, name: string): string {
  return definition.namespaced ? `${namespace ?? ""}/${name}` : name;
}

/** A stored object, parsed: the caller's own copy. */
export function objectOf(entry: Entry): WorkingObject {
  return parseJson(entry.text) as WorkingObject;
}

/** The longest object that can be stored: etcd's limit on requests. */
const MOST_BYTES = 1.5 * 1024 * 1024;

/**
 * What the store keeps of an object, in the stored version, at a revision. Throws when it is too long to be stored; who
 * owns which field is dropped first.
 */
export function contentOf(definition: ResourceDefinition, object: WorkingObject): (revision: number) => EntryContent {
  return (revision) => {
    const { metadata } = object;
    metadata.resourceVersion = String(revision);
    let text = stringifyJson(definition.storageCodec.canonical(object));
    if (isTooLong(text)) {
      delete metadata.managedFields;
      text = stringifyJson(definition.storageCodec.canonical(object));
      if (isTooLong(text)) throw new ApiError({ code: 500, message: "etcdserver: request is too large" });
    }
    return { text, uid: metadata.uid ?? "", labels: metadata.labels, fields: definition.strategy.fields?.(object) };
  };
}

function isTooLong(text: string): boolean {
  return text.length * 3 > MOST_BYTES && Buffer.byteLength(text) > MOST_BYTES;
}

/** An object in another version of its kind. */
export async function convertTo(
  definition: ResourceDefinition,
  object: WorkingObject,
  apiVersion: string,
): Promise<WorkingObject> {
  if (object.apiVersion === apiVersion) return object;
  const [converted] = await definition.convert([object], apiVersion);
  return converted!;
}
