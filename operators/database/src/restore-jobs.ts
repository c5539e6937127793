import { type EnvVar, Job, type PersistentVolumeClaim } from "konverge/kinds";
import { type BackupPlace, isSamePlace, isStore, placeEnvironment, placeOf } from "./backup-place.ts";
import type { BackupMethod } from "./backup-spec.ts";
import { backupFolder, besideServer, isOfOneNode } from "./backup-volume.ts";
import type { Database } from "./database.ts";
import type { DatabaseRestore } from "./database-restore.ts";
import { engineOf } from "./engines.ts";
import { DATA, podName } from "./names.ts";
import { objectStoreOf } from "./object-store.ts";
import { heldForRestore, restoreMethod } from "./restore-hold.ts";
import { fromSecret, taskJobSpec } from "./task-pod.ts";

/** On Jobs of restores and their pods: the DatabaseRestore. */
export const RESTORE_OF = "database-restore";

/** The parts of a restore that are done by a Job each. */
export type RestorePart = "check" | "restore" | "undo" | "finish";
export const RESTORE_PARTS: readonly RestorePart[] = ["check", "restore", "undo", "finish"];

const RETRIES: Readonly<Record<RestorePart, number>> = { check: 2, restore: 2, undo: 6, finish: 6 };

/** A restore as far as its Jobs are concerned. */
export interface RestorePlan {
  readonly restore: DatabaseRestore;
  readonly database: Database;
  readonly method: BackupMethod;
  /** The pod whose volume is restored. */
  readonly primary: string;
  /** Where the backups are, and the name of the database they are of. */
  readonly place: BackupPlace;
  readonly source: string;
  /** The server that has the place's volume on its node, if it can be on one node alone. */
  readonly holder?: string;
  /** The backup that was found to be the right one, once that is known. */
  readonly backup?: string;
}

/** What is restored, from where; undefined if it is not known where the backups are. */
export function planOf(
  restore: DatabaseRestore,
  database: Database,
  sourceDatabase: Database | undefined,
  claimOf: (name: string) => PersistentVolumeClaim | undefined = () => undefined,
): RestorePlan | undefined {
  const { from } = restore.spec;
  const source = from?.database ?? restore.spec.database;
  const placeOfSource = sourceDatabase && placeOf(sourceDatabase);
  const place = namedPlace(restore, source) ?? placeOfSource;
  if (!place) return undefined;
  // The servers whose WAL goes there have the volume on their node.
  const isHeld =
    !isStore(place) &&
    isSamePlace(place, placeOfSource) &&
    isServing(sourceDatabase!) &&
    isOfOneNode(sourceDatabase!, claimOf(place.claim));
  return {
    restore,
    database,
    method: restoreMethod(database, from?.method),
    primary: restore.status?.primary ?? database.status?.podName ?? podName(database),
    place,
    source,
    ...(isHeld && { holder: podName(sourceDatabase!) }),
    ...((restore.status?.backup ?? from?.backup) && { backup: restore.status?.backup ?? from?.backup }),
  };
}

/** The place that a restore names. What was found in the beginning stays, whatever becomes of the Database with the backups. */
function namedPlace({ metadata, spec: { from }, status }: DatabaseRestore, source: string): BackupPlace | undefined {
  const claim = from?.claim ?? status?.claim;
  if (claim) return { claim };
  const store = from?.objectStore ?? status?.objectStore;
  return store && { objectStore: objectStoreOf(store, { namespace: metadata.namespace, name: source }) };
}

export const restoreJobName = (restore: DatabaseRestore, part: RestorePart) => `${restore.metadata.name}-${part}`;
export const dataClaimOf = ({ primary }: Pick<RestorePlan, "primary">) => `${DATA}-${primary}`;

/** The Job for a part of a restore. */
export function restoreJobFor(plan: RestorePlan, part: RestorePart) {
  const { restore, database, method } = plan;
  const { name, namespace } = restore.metadata;
  const physical = method === "physical";
  const beside = part === "finish" ? plan.primary : plan.holder;
  return Job.draft({
    metadata: { name: restoreJobName(restore, part), namespace, labels: { [RESTORE_OF]: name } },
    spec: taskJobSpec(database, {
      name: part,
      script: physical ? "restore.sh" : "restore-dump.sh",
      env: environment(plan, part),
      backups: placeFor(plan, part),
      ...(physical && part !== "check" && { data: dataClaimOf(plan) }),
      retries: RETRIES[part],
      labels: { [RESTORE_OF]: name, "database-name": database.metadata.name },
      ...(physical && beside && besideServer(beside)),
    }),
  });
}

function environment(plan: RestorePlan, part: RestorePart): EnvVar[] {
  const { restore, database, method, source, backup } = plan;
  const { targetTime, targetLSN, targetXID, targetTimeline, inPlace } = restore.spec;
  const common: EnvVar[] = [
    { name: "MODE", value: part },
    { name: "NAME", value: restore.metadata.name },
    ...environmentOf(placeFor(plan, part), source),
    { name: "BACKUP", value: backup ?? "" },
    fromSecret(database, "USERNAME", "username"),
  ];
  if (method === "logical") {
    const server = ["HOST", "PORT", "PASSWORD"].map((name) => fromSecret(database, name, name.toLowerCase()));
    return [...common, ...server];
  }
  return [
    ...common,
    { name: "PGDATA", value: `${engineOf(database).dataFolder}/pgdata` },
    { name: "TARGET_TIME", value: targetTime ?? "" },
    { name: "TARGET_LSN", value: targetLSN ?? "" },
    { name: "TARGET_XID", value: targetXID ?? "" },
    { name: "TARGET_TIMELINE", value: targetTimeline ?? "" },
    { name: "ARCHIVE", value: archivesThere(plan) ? backupFolder(database.metadata.name) : "" },
    { name: "IN_PLACE", value: inPlace ? "yes" : "no" },
  ];
}

/** Parts that only move folders of the server's volume need no other: it may be on another node. */
function placeFor(plan: RestorePlan, part: RestorePart): BackupPlace | undefined {
  const { method, database, place } = plan;
  if (method === "logical" || part === "check" || part === "restore") return place;
  if (part === "finish") return undefined;
  const own = placeOf(database);
  return own && (isStore(own) || isSamePlace(own, place)) ? own : undefined;
}

/** What the scripts learn of a place; those for volumes have the folder in any case, though nothing may be there. */
function environmentOf(place: BackupPlace | undefined, source: string): EnvVar[] {
  const folder = { name: "SOURCE", value: backupFolder(source) };
  return place && isStore(place) ? placeEnvironment(place, source, "SOURCE") : [folder];
}

/** Whether the WAL of the restored database is archived on the volume that it is restored from. */
function archivesThere({ database, place }: RestorePlan): boolean {
  const own = placeOf(database);
  return own !== undefined && !isStore(own) && isSamePlace(own, place);
}

/** Whether a database's servers run. */
const isServing = (database: Database) => database.status?.phase === "Running" && !heldForRestore(database);
