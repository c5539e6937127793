import type { Client } from "@konverge/client";
import { type Clock, type KubeObject, sleep } from "@konverge/core";
import { UsageError } from "../usage-error.ts";
import { type DatabaseKey, databaseOf, kindOf } from "./database-objects.ts";

const PAUSE = 1_000;

interface BackupObject extends KubeObject {
  readonly spec?: { readonly database: string };
  readonly status?: { readonly phase?: string; readonly error?: string };
}

/** Requests a backup, and returns its name. */
export async function backup(client: Client, key: DatabaseKey, name: string): Promise<string> {
  await databaseOf(client, key);
  const kind = await kindOf<BackupObject>(client, "databasebackups.example.com");
  const object = { metadata: { name, namespace: key.namespace }, spec: { database: key.name } };
  await client.create(kind, object as never);
  return name;
}

/** Waits until a backup has ended; fails with its error. */
export async function awaitBackup(
  client: Client,
  { namespace, name }: DatabaseKey,
  { timeout, clock }: { readonly timeout: number; readonly clock: Clock },
): Promise<void> {
  const kind = await kindOf<BackupObject>(client, "databasebackups.example.com");
  const deadline = clock.monotonic() + timeout;
  for (;;) {
    const { status } = await client.get(kind, `${namespace}/${name}`);
    if (status?.phase === "Completed") return;
    if (status?.phase === "Failed")
      throw new UsageError(`the backup ${name} failed: ${status.error ?? "see its status"}`);
    if (clock.monotonic() > deadline)
      throw new UsageError(
        `the backup ${name} is ${status?.phase ?? "Pending"} and goes on: see kubectl get dbb ${name}`,
      );
    await sleep(clock, PAUSE);
  }
}
