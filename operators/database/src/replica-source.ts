import type { Database } from "./database.ts";
import { secretName, writeServiceName } from "./names.ts";

const PORT = 5432;

/** Where the server is that a Database follows, and the Secret with its passwords. */
export interface Source {
  readonly host: string;
  readonly port: number;
  readonly secretName: string;
}

/** Whether a Database is to follow its source. */
export const isReplica = ({ spec }: Pick<Database, "spec">): boolean => spec.replica?.enabled === true;

/** The source, whether it is followed or not. */
export function sourceOf({ spec, metadata }: Database): Source | undefined {
  if (!spec.replica) return undefined;
  const { database, host, port, secretName: ofOther } = spec.replica.source;
  if (host !== undefined && ofOther !== undefined) return { host, port, secretName: ofOther };
  const other = { metadata: { ...metadata, name: database! } } as Database;
  return { host: `${writeServiceName(other)}.${metadata.namespace}.svc`, port: PORT, secretName: secretName(other) };
}

/** What the topology of a Database has that is to follow another one: the source as `server.sh` reads it. */
export function followedBy(database: Database): { readonly follows?: string } {
  const source = isReplica(database) ? sourceOf(database) : undefined;
  return source ? { follows: `host=${source.host} port=${source.port}` } : {};
}
