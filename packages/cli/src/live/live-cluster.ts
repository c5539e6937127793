import { resolve } from "node:path";
import { saveSnapshot } from "@konverge/apiserver";
import type { Client } from "@konverge/client";
import { ApiError } from "@konverge/core";
import type { Operator } from "@konverge/runtime";
import { type ClusterChoice, connectToCluster } from "../cluster-connection.ts";
import { unusable } from "../make-folder.ts";
import { declaredPermissions } from "../operators/declared-permissions.ts";
import type { SettingSources } from "../operators/settings.ts";
import { UsageError } from "../usage-error.ts";
import { type KindToRead, kindsToRead } from "./kinds-to-read.ts";
import { type LiveState, readLiveState } from "./read-live-state.ts";
import { readerRole } from "./reader-role.ts";

/** A live cluster, and the operators whose objects are read of it. */
export interface LiveSource extends ClusterChoice {
  /** Without any: all objects. */
  readonly operators: readonly Operator[];
  /** Settings of the operators, on which their permissions may depend. */
  readonly settings: SettingSources;
}

/** Reads what operators work on from a live cluster. It lists objects and does nothing else. */
export async function readLiveCluster(source: LiveSource): Promise<LiveState> {
  await using client = await connectToCluster(source);
  const kinds = await kindsFor(client, source);
  try {
    return await readLiveState(client, kinds);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 403) throw error;
    throw new UsageError(`${error.message}\nWhat this command has to list is a role: --print-role prints it`, {
      cause: error,
    });
  }
}

/** Saves what {@link readLiveCluster} reads to a file, and says what it has. */
export async function saveLiveCluster(source: LiveSource, file: string): Promise<string[]> {
  const { state, objects, requests } = await readLiveCluster(source);
  try {
    saveSnapshot(resolve(file), state);
  } catch (error) {
    throw unusable(file, error);
  }
  const counts = Object.entries(objects).sort(([, a], [, b]) => b - a);
  const all = counts.reduce((sum, [, count]) => sum + count, 0);
  return [
    `${file} has ${all} objects, read with ${requests} requests; values of Secrets are replaced`,
    ...counts.map(([name, count]) => `  ${name}: ${count}`),
  ];
}

/** The role that suffices for {@link readLiveCluster}, as YAML. */
export async function liveClusterRole(source: LiveSource): Promise<string> {
  await using client = await connectToCluster(source);
  return readerRole(await kindsFor(client, source));
}

async function kindsFor(client: Client, { operators, settings }: LiveSource): Promise<KindToRead[]> {
  const { resources } = await client.mapper.refresh();
  if (operators.length === 0) return kindsToRead(undefined, resources);
  const own = operators.flatMap(({ kinds }) => kinds);
  const isServed = ({ group, plural }: { group: string; plural: string }) =>
    resources.some((one) => one.group === group && one.plural === plural);
  if (own.length > 0 && !own.some(isServed)) {
    const names = own.map((kind) => `${kind.plural}.${kind.group}`).join(", ");
    throw new UsageError(`this cluster serves none of the operator's kinds (${names}): choose another context`);
  }
  return kindsToRead(
    operators.flatMap((operator) => declaredPermissions(operator, settings)),
    resources,
  );
}
