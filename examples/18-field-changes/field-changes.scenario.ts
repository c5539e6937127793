import assert from "node:assert/strict";
import type { Place } from "../test/place.ts";
import { Shop, shops } from "./field-changes.ts";

export async function scenario({ client, namespace, install, run, until }: Place): Promise<void> {
  await install(Shop);
  const migrations: string[] = [];
  const migrate = async (from: number, to: number) => void migrations.push(`${from} to ${to}`);
  const manager = await run(shops(migrate));
  const key = `${namespace}/s`;
  const isAt = (version: string) => async () => (await client.get(Shop, key)).status?.migrated === version;
  await client.create(Shop.new({ metadata: { name: "s", namespace }, spec: { version: 1 } }));
  await until("it is set up", isAt("1"));
  await client.patch(Shop, key, { merge: { spec: { version: 2 } } });
  await until("it is migrated", isAt("2"));
  // Changes during a downtime count as well; intermediate values do not.
  let stopped = false;
  void manager.stop().then(() => {
    stopped = true;
  });
  await until("the operator has stopped", () => stopped);
  await client.patch(Shop, key, { merge: { spec: { version: 3 } } });
  await client.patch(Shop, key, { merge: { spec: { version: 4 } } });
  await run(shops(migrate));
  await until("it is migrated again", isAt("4"));
  assert.deepEqual(migrations, ["1 to 2", "2 to 4"]);
}
