import type { Client } from "@konverge/client";
import { type Condition, isNotFound, type KindRef, type KubeObject } from "@konverge/core";
import { UsageError } from "../usage-error.ts";

/** What these commands read of a Database, whichever version of its operator is installed. */
export interface DatabaseObject extends KubeObject {
  readonly spec?: { readonly version?: string; readonly instances?: number; readonly switchoverTo?: string };
  readonly status?: DatabaseStatus;
}

export interface DatabaseStatus {
  readonly phase?: string;
  readonly engine?: string;
  readonly version?: string;
  readonly endpoint?: string;
  readonly podName?: string;
  readonly currentPrimary?: string;
  readonly term?: number;
  readonly timeline?: number;
  readonly lastSwitchover?: string;
  readonly servers?: readonly DatabaseServer[];
  readonly lastBackupTime?: string;
  readonly firstRecoverable?: string;
  readonly lastRecoverable?: string;
  readonly gaps?: readonly { readonly from: string; readonly to?: string }[];
  readonly roles?: readonly Outcome[];
  readonly databases?: readonly Outcome[];
  readonly conditions?: readonly Condition[];
}

export interface DatabaseServer {
  readonly name: string;
  readonly role?: string;
  readonly ready: boolean;
  readonly node?: string;
  readonly behindSeconds?: number;
  readonly usedPercent?: number;
}

interface Outcome {
  readonly name: string;
  readonly state: string;
  readonly message?: string;
}

/** Where a Database is. */
export interface DatabaseKey {
  readonly name: string;
  readonly namespace: string;
}

export const keyText = ({ name, namespace }: DatabaseKey) => `${namespace}/${name}`;

/** The kind of Databases, as the cluster serves it. */
export const databaseKind = (client: Client) => kindOf<DatabaseObject>(client, "databases.example.com");

/** A kind of the database operator. */
export async function kindOf<T extends KubeObject>(client: Client, resource: string): Promise<KindRef<T>> {
  return (await client.mapper.resolveResource(resource).catch((error: unknown) => {
    const message = `the cluster has no ${resource}: install the database operator (konverge deploy)`;
    throw new UsageError(message, { cause: error });
  })) as KindRef<T>;
}

export async function databaseOf(client: Client, key: DatabaseKey): Promise<DatabaseObject> {
  const kind = await databaseKind(client);
  return client.get(kind, keyText(key)).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    throw new UsageError(
      `there is no Database ${key.name} in the namespace ${key.namespace}: see kubectl get databases -A`,
    );
  });
}

/** Its servers: as they report, or by their number. */
export function serverNames({ metadata, spec, status }: DatabaseObject): string[] {
  const count = Math.max(spec?.instances ?? 1, status?.servers?.length ?? 0);
  return Array.from({ length: count }, (_, index) => `${metadata.name}-${index}`);
}

/** Checks that pods are servers of a Database. */
export function checkServers(database: DatabaseObject, pods: readonly string[]): void {
  const known = serverNames(database);
  const unknown = pods.find((pod) => !known.includes(pod));
  if (unknown === undefined) return;
  throw new UsageError(
    `${unknown} is not a server of Database ${database.metadata.name}: those are ${known.join(", ")}`,
  );
}
