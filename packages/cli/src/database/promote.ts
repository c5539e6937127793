import type { Client } from "@konverge/client";
import { type Clock, sleep } from "@konverge/core";
import { UsageError } from "../usage-error.ts";
import {
  checkServers,
  type DatabaseKey,
  type DatabaseObject,
  databaseKind,
  databaseOf,
  keyText,
} from "./database-objects.ts";

const PAUSE = 1_000;

export interface PromoteOptions {
  /** The pod to promote. Default: the standby that is the least behind. */
  readonly pod?: string;
  /** Milliseconds. */
  readonly timeout: number;
  readonly clock: Clock;
}

/** Makes a standby the primary, in order and without a loss, and waits for that. Returns its name. */
export async function promote(client: Client, key: DatabaseKey, options: PromoteOptions): Promise<string> {
  const { timeout, clock } = options;
  const database = await databaseOf(client, key);
  const pod = options.pod ?? bestStandby(database);
  checkServers(database, [pod]);
  if (database.status?.currentPrimary === pod) return pod;
  const deadline = clock.monotonic() + timeout;
  // One that was requested before is forgotten first: otherwise the same one cannot be requested again.
  await request(client, key, null);
  await reached(client, key, deadline, clock, ({ status }) => status?.lastSwitchover === undefined);
  await request(client, key, pod);
  const last = await reached(client, key, deadline, clock, ({ status }) => {
    // It has ended, well or not, when a server leads again.
    return status?.lastSwitchover === pod && status.currentPrimary !== undefined;
  });
  await request(client, key, null);
  if (last.status?.currentPrimary === pod) return pod;
  throw new UsageError(`${pod} was not promoted: the hand-over was abandoned; see the events of Database ${key.name}`);
}

function bestStandby({ metadata, status }: DatabaseObject): string {
  const standbys = (status?.servers ?? []).filter(({ role, ready }) => role === "standby" && ready);
  const [best] = standbys.toSorted((a, b) => (a.behindSeconds ?? Infinity) - (b.behindSeconds ?? Infinity));
  if (best) return best.name;
  throw new UsageError(
    `Database ${metadata.name} has no standby that is ready: see konverge database status ${metadata.name}`,
  );
}

async function request(client: Client, key: DatabaseKey, switchoverTo: string | null): Promise<void> {
  await client.patch(await databaseKind(client), keyText(key), { merge: { spec: { switchoverTo } } } as never);
}

async function reached(
  client: Client,
  key: DatabaseKey,
  deadline: number,
  clock: Clock,
  holds: (database: DatabaseObject) => boolean,
): Promise<DatabaseObject> {
  for (;;) {
    const database = await databaseOf(client, key);
    if (holds(database)) return database;
    if (clock.monotonic() > deadline) {
      const ready = database.status?.conditions?.find(({ type }) => type === "Ready");
      const why = ready
        ? `${ready.reason}${ready.message ? `: ${ready.message}` : ""}`
        : "its operator does not answer";
      await request(client, key, null);
      throw new UsageError(`no hand-over in time, and it is no longer requested; Ready of ${key.name} is ${why}`);
    }
    await sleep(clock, PAUSE);
  }
}
