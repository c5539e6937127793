import type { Client } from "@konverge/client";
import { isNotFound, type KindRef, type KubeObject, type ObjectKey } from "@konverge/core";

/** An object as the server has it now; undefined if there is none. */
export async function existing(
  client: Client,
  kind: KindRef<KubeObject>,
  key: ObjectKey,
): Promise<KubeObject | undefined> {
  try {
    return await client.get(kind, key);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return undefined;
  }
}
