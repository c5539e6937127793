import type { Client } from "@konverge/client";
import { checkServers, type DatabaseKey, databaseKind, databaseOf, keyText, serverNames } from "./database-objects.ts";

/** On a Database: its servers that are stopped, as `*` or by the names of their pods with commas between them. */
export const FENCE = "databases.example.com/fence";
const ALL = "*";

/** Fences servers, or ends that, and returns those that are fenced then. Without names: all. */
export async function changeFence(
  client: Client,
  key: DatabaseKey,
  { pods, isFenced }: { readonly pods: readonly string[]; readonly isFenced: boolean },
): Promise<readonly string[]> {
  const database = await databaseOf(client, key);
  checkServers(database, pods);
  const all = serverNames(database);
  const before = database.metadata.annotations?.[FENCE];
  const fenced = new Set(before === ALL ? all : (before?.split(",").map((name) => name.trim()) ?? []));
  for (const pod of pods.length > 0 ? pods : all) {
    if (isFenced) fenced.add(pod);
    else fenced.delete(pod);
  }
  const isAll = isFenced && pods.length === 0;
  const names = [...fenced].filter((name) => name !== "").sort();
  const value = isAll ? ALL : names.length > 0 ? names.join(",") : null;
  const { resourceVersion } = database.metadata;
  // Two users who fence at the same time do not undo each other's change.
  const patch = { merge: { metadata: { resourceVersion, annotations: { [FENCE]: value } } } };
  await client.patch(await databaseKind(client), keyText(key), patch as never);
  return isAll ? all : names;
}
