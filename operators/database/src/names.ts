import type { Database } from "./database.ts";

/** What belongs to a database is called after it. */
export const secretName = ({ metadata }: Database) => `${metadata.name}-credentials`;
export const applicationSecretName = ({ metadata }: Database) => `${metadata.name}-app`;
export const tlsSecretName = ({ metadata }: Database) => `${metadata.name}-tls`;
/** Of the Certificate that cert-manager issues, and of its Secret. */
export const certificateName = ({ metadata }: Database) => `${metadata.name}-certificate`;
export const authorityName = ({ metadata }: Database) => `${metadata.name}-ca`;
/** Of the Secret with the declared roles and databases. */
export const declaredName = ({ metadata }: Database) => `${metadata.name}-declared`;
export const configName = ({ metadata }: Database) => `${metadata.name}-config`;
export const scriptsName = ({ metadata }: Database) => `${metadata.name}-scripts`;
export const topologyName = ({ metadata }: Database) => `${metadata.name}-topology`;
export const backupName = ({ metadata }: Database) => `${metadata.name}-backup`;
export const drillName = ({ metadata }: Database) => `${metadata.name}-drill`;
export const poolerName = ({ metadata }: Database) => `${metadata.name}-pooler`;
/** The headless Service that gives each server a DNS name. */
export const podsServiceName = ({ metadata }: Database) => `${metadata.name}-pods`;
export const writeServiceName = ({ metadata }: Database) => `${metadata.name}-rw`;
export const readServiceName = ({ metadata }: Database) => `${metadata.name}-ro`;
/** The pod with this ordinal, and the claim that its StatefulSet creates for it. */
export const podName = ({ metadata }: Database, index = 0) => `${metadata.name}-${index}`;
export const claimName = (database: Database, index = 0) => `${DATA}-${podName(database, index)}`;

/** The volume with the data. */
export const DATA = "data";
/** What a pod is, as only the operator says: Services choose by it. */
export const ROLE = "database-role";

export function labelsOf({ metadata }: Database): Record<string, string> {
  return { app: "database", "database-name": metadata.name };
}

export function metadataOf(database: Database, name: string) {
  return { name, namespace: database.metadata.namespace, labels: labelsOf(database) };
}
