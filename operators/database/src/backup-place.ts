import type { EnvVar, Volume, VolumeMount } from "konverge/kinds";
import { backupClaimName, backupFolder, backupMount, backupVolume } from "./backup-volume.ts";
import type { Database } from "./database.ts";
import {
  type ObjectStore,
  objectStoreOf,
  storeAddress,
  storeEnvironment,
  storeMount,
  storeVolume,
} from "./object-store.ts";

/** Where backups and WAL are: on the volume of a claim, or in an object store. */
export type BackupPlace = { readonly claim: string } | { readonly objectStore: ObjectStore };

export const isStore = (place: BackupPlace): place is { readonly objectStore: ObjectStore } => "objectStore" in place;

/** Where the backups of a database are, if it has some. */
export function placeOf(database: Database): BackupPlace | undefined {
  const { backup } = database.spec;
  if (!backup) return undefined;
  if (backup.objectStore) return { objectStore: objectStoreOf(backup.objectStore, database.metadata) };
  return { claim: backupClaimName(database) };
}

/** Whether two places are one. */
export function isSamePlace(a: BackupPlace | undefined, b: BackupPlace | undefined): boolean {
  if (!a || !b || isStore(a) !== isStore(b)) return false;
  return isStore(a) && isStore(b)
    ? storeAddress(a.objectStore) === storeAddress(b.objectStore) && a.objectStore.endpoint === b.objectStore.endpoint
    : !isStore(a) && !isStore(b) && a.claim === b.claim;
}

/** What brings a place into a pod: a volume with the backups, or with the keys to the store. */
export const placeVolume = (place: BackupPlace): Volume =>
  isStore(place) ? storeVolume(place.objectStore) : backupVolume(place.claim);
export const placeMount = (place: BackupPlace): VolumeMount => (isStore(place) ? storeMount : backupMount);

/** How a script finds the backups of a database in a place; `variable` names the folder on a volume. */
export function placeEnvironment(place: BackupPlace, database: string, variable: string): EnvVar[] {
  return isStore(place) ? storeEnvironment(place.objectStore) : [{ name: variable, value: backupFolder(database) }];
}
