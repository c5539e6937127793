import { type Clock, timestamp } from "@konverge/core";
import type { WorkingObject } from "../codec/working-object.ts";
import type { Registry } from "../resources/registry.ts";
import { contentOf, objectOf } from "../resources/stored-object.ts";
import type { Store } from "../storage/store.ts";

/** An object that the server itself makes. */
export interface SystemObject {
  readonly group: string;
  readonly plural: string;
  readonly key: string;
  readonly object: WorkingObject;
  /** What the server then owns, as managed fields have it. */
  readonly fields: object;
}

/** Stores an object of the server's own, with what differs from cluster to cluster filled in; it may be there already. */
export function putSystemObject(store: Store, registry: Registry, clock: Clock, made: SystemObject): void {
  const { group, plural, key, object, fields } = made;
  const definition = registry.get(group, plural)!;
  const now = timestamp(clock);
  const manager = { manager: "kube-apiserver", operation: "Update", apiVersion: object.apiVersion, time: now };
  const before = store.collection(definition.storage).get(key);
  const { uid = clock.random.uuid(), creationTimestamp = now } = before ? objectOf(before).metadata : {};
  object.metadata.uid = uid;
  object.metadata.creationTimestamp = creationTimestamp;
  object.metadata.managedFields = [{ ...manager, fieldsType: "FieldsV1", fieldsV1: fields }] as never;
  store.put(definition.storage, key, contentOf(definition, object));
}
