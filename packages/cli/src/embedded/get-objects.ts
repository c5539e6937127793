import type { Client } from "@konverge/client";
import type { KindRef, KubeObject } from "@konverge/core";
import type { Output } from "../output-option.ts";
import { UsageError } from "../usage-error.ts";
import { tableText } from "./table-text.ts";

export interface GetOptions {
  /** Kind, plural or short name. */
  readonly resource: string;
  /** The name of one. Absent: all. */
  readonly object?: string;
  /** Absent: all. */
  readonly namespace?: string;
  readonly output: Output;
}

/** Objects as `kubectl get` prints them. */
export async function getText(client: Client, { resource, object, namespace, output }: GetOptions): Promise<string> {
  const kind = (await client.mapper.resolveResource(resource).catch((error: unknown) => {
    throw new UsageError(`the cluster has no kind ${resource}: ${(error as Error).message}`, { cause: error });
  })) as KindRef<KubeObject>;
  const place = kind.namespaced && namespace !== undefined ? { namespace } : {};
  if (output === "json") {
    const key = kind.namespaced ? `${namespace ?? "default"}/${object}` : object;
    const found = object === undefined ? (await client.list(kind, place)).items : await client.get(kind, key!);
    return JSON.stringify(found, undefined, 2);
  }
  const { columnDefinitions, rows = [] } = await client.table(kind, {
    ...place,
    ...(object !== undefined && { name: object }),
  });
  if (rows.length === 0) return `No resources found${namespace === undefined ? "" : ` in ${namespace} namespace`}.`;
  const shown = columnDefinitions.map((column, i) => ({ ...column, i })).filter(({ priority }) => !priority);
  const isWide = kind.namespaced && namespace === undefined;
  const spaceOf = (row: (typeof rows)[number]) => (row.object as KubeObject | undefined)?.metadata.namespace ?? "";
  return tableText(
    [...(isWide ? ["namespace"] : []), ...shown.map(({ name }) => name)],
    rows.map((row) => [...(isWide ? [spaceOf(row)] : []), ...shown.map(({ i }) => row.cells[i])]),
  );
}
