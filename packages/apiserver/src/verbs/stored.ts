import { type AnyObject, stringifyJson } from "@konverge/core";
import type { ResourceVersion } from "../resources/definition.ts";
import type { Entry } from "../storage/collection.ts";
import { type Call, convertTo, objectOf, requestVersion } from "./call.ts";

/** The text of a stored object in the version of the request, where it can go out as it is. */
function plainText(call: Call, entry: Entry): string | undefined {
  const { definition } = call;
  const apiVersion = requestVersion(call);
  if (!definition.custom) return apiVersion === definition.storedAs ? entry.text : undefined;
  // The storage version may have changed since, and so may the schema.
  const isCurrent = entry.revision > (definition.since ?? 0);
  return isCurrent && entry.text.startsWith(`{"apiVersion":${JSON.stringify(apiVersion)}`) ? entry.text : undefined;
}

/** A stored object in the version of the request: the caller's own copy. */
export async function readEntry(call: Call, entry: Entry): Promise<AnyObject> {
  const stored = objectOf(entry);
  if (plainText(call, entry) !== undefined) return stored;
  return brought(call, stored);
}

/** Any state of a stored object, brought to the version of the request and, for custom resources, to today's schema. */
export async function brought(call: Call, stored: AnyObject): Promise<AnyObject> {
  const { definition, version } = call;
  const object = await convertTo(definition, stored, requestVersion(call));
  if (!definition.custom) return object;
  const refreshed = version.codec.decode(object).object;
  version.codec.applyDefaults(refreshed);
  return refreshed;
}

const texts = new WeakMap<Entry, Map<ResourceVersion, string>>();

/** The text of a stored object in the version of the request. */
export function textOf(call: Call, entry: Entry): string | Promise<string> {
  return plainText(call, entry) ?? texts.get(entry)?.get(call.version) ?? makeText(call, entry);
}

async function makeText(call: Call, entry: Entry): Promise<string> {
  const text = stringifyJson(call.version.codec.canonical(await readEntry(call, entry)));
  const ofEntry = texts.get(entry) ?? new Map<ResourceVersion, string>();
  ofEntry.set(call.version, text);
  texts.set(entry, ofEntry);
  return text;
}

/** The texts of many, in their order. */
export async function textsOf(call: Call, entries: readonly Entry[]): Promise<string[]> {
  const found = entries.map((entry) => textOf(call, entry));
  return found.every((text) => typeof text === "string") ? found : Promise.all(found);
}
