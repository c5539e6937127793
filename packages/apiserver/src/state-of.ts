import { type AnyObject, keyOf, parseApiVersion, realClock, stringifyJson } from "@konverge/core";
import type { WorkingObject } from "./codec/working-object.ts";
import type { Registry } from "./resources/registry.ts";
import { convertTo } from "./resources/stored-object.ts";
import { ApiServer } from "./server.ts";
import { Collection } from "./storage/collection.ts";
import type { Entry } from "./storage/entry.ts";
import type { Snapshot } from "./storage/journal.ts";

const CRD = "CustomResourceDefinition";

/**
 * The state of a server that has these objects, which another server has returned: with their uids, versions, owners, managed
 * fields and status as they are. No admission plugin and no validation sees them. Objects of kinds that nothing defines are
 * left out: kinds are built in, or defined by a CRD among the objects.
 *
 * `revision`: that of the list they are from.
 */
export async function stateOf(objects: readonly AnyObject[], revision: number): Promise<Snapshot> {
  const definitions = objects.filter(({ kind }) => kind === CRD);
  const builtIn = new ApiServer({ clock: realClock() });
  const bare = await stored(definitions, builtIn.registry, revision);
  builtIn.close();
  // A server that begins with the definitions knows the kinds that they define.
  const server = new ApiServer({ clock: realClock(), state: bare });
  try {
    return await stored(objects, server.registry, revision);
  } finally {
    server.close();
  }
}

async function stored(objects: readonly AnyObject[], registry: Registry, revision: number): Promise<Snapshot> {
  const collections = new Map<string, Collection>();
  let newest = revision;
  for (const object of objects) {
    const definition = registry.byKind(parseApiVersion(object.apiVersion ?? "").group, object.kind ?? "");
    if (!definition) continue;
    const version = definition.versions.get(parseApiVersion(object.apiVersion ?? "").version);
    const working = version && !definition.custom ? version.codec.decode(object).object : (object as WorkingObject);
    const kept = definition.custom ? working : await convertTo(definition, working, definition.storedAs);
    const written = Number(object.metadata.resourceVersion ?? revision);
    newest = Math.max(newest, written);
    const collection = collections.get(definition.storage) ?? new Collection();
    collections.set(definition.storage, collection);
    const entry: Entry = {
      key: keyOf(object),
      revision: written,
      text: stringifyJson(definition.storageCodec.canonical(kept)),
      uid: object.metadata.uid ?? "",
      labels: object.metadata.labels,
      fields: definition.strategy.fields?.(kept),
    };
    collection.load(entry);
  }
  for (const collection of collections.values()) collection.restart(newest);
  return { revision: newest, compacted: newest, collections };
}
