import { type AnyObject, stringifyJson, VirtualClock } from "@konverge/core";
import { Store } from "../src/storage/store.ts";

let uids = 0;

/** Puts objects into a store as the server would. */
export function putObjects(store: Store, resource: string, ...objects: object[]): void {
  for (const object of objects as AnyObject[]) {
    const { namespace, name, uid = `uid-${++uids}`, labels } = object.metadata;
    store.put(resource, namespace ? `${namespace}/${name}` : name, (revision) => ({
      text: stringifyJson({
        ...object,
        metadata: { ...object.metadata, uid, resourceVersion: String(revision) },
      }),
      uid,
      labels,
      fields: undefined,
    }));
  }
}

export function removeObject(store: Store, resource: string, key: string): void {
  const { text, uid, labels } = store.collection(resource).get(key)!;
  store.remove(resource, key, () => ({ text, uid, labels, fields: undefined }));
}

/** A store on virtual time. */
export function emptyStore(): { store: Store; clock: VirtualClock } {
  const clock = new VirtualClock();
  return { store: new Store({ clock }), clock };
}
