import { parseJson } from "@konverge/core";
import type { Call } from "../call/call.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import type { Entry } from "../storage/entry.ts";

const read = new WeakMap<Entry, unknown>();

/** The objects of a collection by name, each read once for as long as it stays as it is. */
export function configurationsIn<T>(call: Call, resource: string, make: (object: WorkingObject) => T): T[] {
  const found: T[] = [];
  for (const entry of call.store.collection(resource).scan("")) {
    let made = read.get(entry);
    if (made === undefined) {
      made = make(parseJson(entry.text) as WorkingObject);
      read.set(entry, made);
    }
    found.push(made as T);
  }
  return found;
}
