import { type AnyObject, parseJson } from "@konverge/core";
import type { Store } from "../../storage/store.ts";

/** A reference to one incarnation of an object. */
export interface ObjectRef {
  readonly name: string;
  readonly uid: string;
}

/** What became of an object; `replaced` is another one of the same name. */
export interface ObjectState {
  readonly state: "live" | "missing" | "replaced" | "deleted";
  /** Of what is there now. */
  readonly uid?: string;
}

/** What became of an object that something is bound to. One whose deletion was due before `deadline` counts as deleted. */
export function liveObject(store: Store, resource: string, key: string, ref: ObjectRef, deadline: number): ObjectState {
  const entry = store.collection(resource).get(key);
  if (!entry) return { state: "missing" };
  if (entry.uid !== ref.uid) return { state: "replaced", uid: entry.uid };
  // Most objects are not being deleted: those are not even parsed.
  if (!entry.text.includes('"deletionTimestamp"')) return { state: "live" };
  const { deletionTimestamp } = (parseJson(entry.text) as AnyObject).metadata;
  const due = deletionTimestamp === undefined ? Number.POSITIVE_INFINITY : Date.parse(deletionTimestamp);
  return { state: due < deadline ? "deleted" : "live" };
}
