import type { Client } from "@konverge/client";
import { isConflict, isNotFound, type KindRef, type KubeObject, keyOf } from "@konverge/core";
import { CustomResourceDefinition } from "@konverge/kinds";
import { UsageError } from "../usage-error.ts";

/** Where a migration that was interrupted goes on: an annotation of the CRD. */
export const MIGRATION_ANNOTATION = "konverge.dev/storage-migration";

/** How far the migration of a CRD is. */
export interface MigrationProgress {
  readonly crd: string;
  /** The version that objects are stored in afterwards. */
  readonly version: string;
  readonly done: number;
  /** As far as the server tells. */
  readonly total?: number;
}

/** What a migration did. */
export interface MigrationResult {
  readonly crd: string;
  readonly version: string;
  /** Versions that no object is stored in any more. */
  readonly removed: readonly string[];
  /** How many objects were written again by this run. */
  readonly objects: number;
  /** The key after which this run went on, if it went on. */
  readonly resumedAfter?: string;
}

export interface MigrateOptions {
  /** Names of CRDs. None: all whose objects may be stored in an old version. */
  readonly crds: readonly string[];
  /** Objects between two notes of how far it is. */
  readonly pageSize: number;
  readonly stop: AbortSignal;
  progress(progress: MigrationProgress): void;
}

/**
 * Writes all objects of CRDs again, unchanged: the API server stores them in the CRD's storage version. Then the old versions
 * are removed from `status.storedVersions`, after which they can be removed from the CRD.
 *
 * Guarantees: the status is trimmed only after every object has been written since the storage version was set; an object that
 * another client writes meanwhile needs no write of ours. An interrupted run is continued by the next one.
 */
export async function migrateStorage(client: Client, options: MigrateOptions): Promise<MigrationResult[]> {
  const results: MigrationResult[] = [];
  for (const crd of await chosen(client, options.crds)) {
    const { current, old } = storedVersions(crd);
    if (old.length === 0) {
      results.push({ crd: crd.metadata.name, version: current, removed: [], objects: 0 });
      continue;
    }
    results.push(await migrate(client, crd, options));
    if (options.stop.aborted) break;
  }
  return results;
}

async function chosen(client: Client, names: readonly string[]): Promise<CustomResourceDefinition[]> {
  const { items } = await client.list(CustomResourceDefinition);
  if (names.length === 0) return items.filter((crd) => storedVersions(crd).old.length > 0);
  return names.map((name) => {
    const found = items.find(({ metadata }) => metadata.name === name);
    if (found) return found;
    throw new UsageError(`the cluster has no CRD ${name}: its name is PLURAL.GROUP, as in trainingjobs.ml.example.com`);
  });
}

function storedVersions({ spec, status }: CustomResourceDefinition): { current: string; old: string[] } {
  const current = spec.versions.find(({ storage }) => storage)!.name;
  return { current, old: (status?.storedVersions ?? []).filter((version) => version !== current) };
}

async function migrate(
  client: Client,
  crd: CustomResourceDefinition,
  options: MigrateOptions,
): Promise<MigrationResult> {
  const { name } = crd.metadata;
  const { current: version, old } = storedVersions(crd);
  const kind = kindOf(crd, version);
  const resumedAfter = noted(crd, version);
  let objects = 0;
  let next: string | undefined;
  do {
    const page = await client.list(kind, { limit: options.pageSize, ...(next !== undefined && { continue: next }) });
    next = page.metadata.continue || undefined;
    const rest = page.items.filter((object) => resumedAfter === undefined || keyOf(object) > resumedAfter);
    for (const object of rest) {
      if (options.stop.aborted) return { crd: name, version, removed: [], objects, ...went(resumedAfter) };
      await writeAgain(client, kind, object);
      objects++;
    }
    const last = rest.at(-1);
    if (last && next !== undefined)
      await note(client, name, { version, generation: crd.metadata.generation, after: keyOf(last) });
    const { remainingItemCount } = page.metadata;
    const total =
      next === undefined ? objects : remainingItemCount === undefined ? undefined : objects + remainingItemCount;
    options.progress({ crd: name, version, done: objects, ...(total !== undefined && { total }) });
  } while (next !== undefined);
  await note(client, name, undefined);
  await trim(client, name, version);
  return { crd: name, version, removed: old, objects, ...went(resumedAfter) };
}

const went = (after: string | undefined) => (after === undefined ? {} : { resumedAfter: after });

async function writeAgain(client: Client, kind: KindRef<KubeObject>, object: KubeObject): Promise<void> {
  try {
    await client.update(kind, object as never);
  } catch (error) {
    // Another client has written or deleted it since: then it is not stored in an old version.
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
}

interface Note {
  readonly version: string;
  /** The CRD's: if it has changed since, another version may have been stored meanwhile. */
  readonly generation: number | undefined;
  readonly after: string;
}

/** The key after which an earlier run stopped. One for another state of the CRD says nothing. */
function noted({ metadata }: CustomResourceDefinition, version: string): string | undefined {
  const text = metadata.annotations?.[MIGRATION_ANNOTATION];
  if (text === undefined) return undefined;
  const note = JSON.parse(text) as Note;
  return note.version === version && note.generation === metadata.generation ? note.after : undefined;
}

async function note(client: Client, name: string, note: Note | undefined): Promise<void> {
  const annotations = { [MIGRATION_ANNOTATION]: note === undefined ? null : JSON.stringify(note) };
  await client.patch(CustomResourceDefinition, name, { merge: { metadata: { annotations } } as never });
}

async function trim(client: Client, name: string, version: string): Promise<void> {
  const { spec, metadata } = await client.get(CustomResourceDefinition, name);
  const now = spec.versions.find(({ storage }) => storage)?.name;
  if (now !== version) {
    throw new UsageError(`the storage version of ${name} became ${now} meanwhile: run the migration again`);
  }
  const { resourceVersion } = metadata;
  const merge = { metadata: { resourceVersion }, status: { storedVersions: [version] } };
  await client.patchStatus(CustomResourceDefinition, name, { merge: merge as never });
}

function kindOf({ spec }: CustomResourceDefinition, version: string): KindRef<KubeObject> {
  const { kind, plural } = spec.names;
  return { group: spec.group, version, kind, plural, namespaced: spec.scope === "Namespaced" };
}
