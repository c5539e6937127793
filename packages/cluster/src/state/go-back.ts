import type { ApiServer, Snapshot, Store } from "@konverge/apiserver";
import { type AnyObject, type Mutable, parseJson, stringifyJson } from "@konverge/core";

/**
 * Takes a server back to an earlier state under the eyes of its clients, by ordinary changes: what has come since goes,
 * what has gone comes back with the uid it had, what has changed is as it was. Revisions go on, so that watchers and
 * caches, which believe only what is newer, follow.
 */
export function goBack({ store }: ApiServer, state: Snapshot): void {
  for (const resource of new Set([...store.resources(), ...state.collections.keys()])) {
    const then = state.collections.get(resource);
    for (const { key, revision } of [...store.collection(resource).scan("")]) {
      const was = then?.get(key);
      if (!was) store.remove(resource, key, at(store.collection(resource).get(key)!));
      else if (was.revision !== revision) store.put(resource, key, at(was));
    }
    for (const was of then?.scan("") ?? []) {
      if (!store.collection(resource).get(was.key)) store.put(resource, was.key, at(was));
    }
  }
}

/** A stored object at another revision. */
function at({ text, uid, labels, fields }: Entry): Parameters<Store["put"]>[2] {
  return (revision) => {
    const object = parseJson(text) as Mutable<AnyObject>;
    object.metadata.resourceVersion = String(revision);
    return { text: stringifyJson(object), uid, labels, fields };
  };
}

type Entry = ReturnType<Store["put"]>;
