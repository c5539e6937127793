import { stringifyJson } from "@konverge/core";
import type { WorkingObject } from "../codec/working-object.ts";
import type { ResourceDefinition, ResourceVersion } from "../resources/definition.ts";
import { convertTo, objectOf } from "../resources/stored-object.ts";
import type { Entry } from "../storage/entry.ts";
import { type Call, requestVersion } from "./call.ts";

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
export async function readEntry(call: Call, entry: Entry): Promise<WorkingObject> {
  const stored = objectOf(entry);
  if (plainText(call, entry) !== undefined) return stored;
  return brought(call, stored);
}

/**
 * Any state of a stored object, brought to the version of the request. Custom resources are brought to today's schema
 * first: defaults are those of the version they are stored in, and what neither version has is dropped.
 */
export async function brought(call: Call, stored: WorkingObject): Promise<WorkingObject> {
  const { definition, version } = call;
  const apiVersion = requestVersion(call);
  if (!definition.custom) return convertTo(definition, stored, apiVersion);
  const current = refreshed(definition, stored);
  if (current.apiVersion === apiVersion) return current;
  return version.codec.decode(await convertTo(definition, current, apiVersion)).object;
}

/** A stored custom resource by today's schema of the version it is stored in. */
export function refreshed(definition: ResourceDefinition, stored: WorkingObject): WorkingObject {
  const codec = definition.codecOf!(stored.apiVersion);
  const { object } = codec.decode(stored);
  codec.applyDefaults(object);
  return object;
}

/** An object as it will be stored. */
export async function asStored(call: Call, object: WorkingObject): Promise<WorkingObject> {
  const { definition } = call;
  if (object.apiVersion === definition.storedAs) return object;
  const converted = await convertTo(definition, object, definition.storedAs);
  return definition.custom ? refreshed(definition, converted) : converted;
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
