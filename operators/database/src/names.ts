import type { Database } from "./database.ts";

/** What belongs to a database is called after it. */
export const secretName = ({ metadata }: Database) => `${metadata.name}-credentials`;
export const configName = ({ metadata }: Database) => `${metadata.name}-config`;
export const scriptsName = ({ metadata }: Database) => `${metadata.name}-scripts`;
export const backupName = ({ metadata }: Database) => `${metadata.name}-backup`;
/** The volume claim that a StatefulSet makes for its first pod. */
export const claimName = ({ metadata }: Database) => `${DATA}-${metadata.name}-0`;
export const podName = ({ metadata }: Database) => `${metadata.name}-0`;

/** The volume with the data. */
export const DATA = "data";

export function labelsOf({ metadata }: Database): Record<string, string> {
  return { app: "database", "database-name": metadata.name };
}

export function metadataOf(database: Database, name: string) {
  return { name, namespace: database.metadata.namespace, labels: labelsOf(database) };
}
