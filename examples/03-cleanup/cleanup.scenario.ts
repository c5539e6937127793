import assert from "node:assert/strict";
import { isNotFound } from "konverge";
import { ConfigMap } from "konverge/kinds";
import type { Place } from "../test/place.ts";
import { Guest, guests } from "./cleanup.ts";

export async function scenario({ client, namespace, install, run, until }: Place): Promise<void> {
  await install(Guest);
  await run(guests);
  const key = `${namespace}/ann`;
  await client.create(Guest.new({ metadata: { name: "ann", namespace } }));
  await until("the finalizer is there", async () => (await client.get(Guest, key)).metadata.finalizers?.length === 1);
  await client.create(ConfigMap, { metadata: { name: "bill", namespace, labels: { guest: "ann" } } });
  await client.delete(Guest, key);
  await until("an event says what the deletion waits for", async () => {
    const { Event } = await import("konverge/kinds");
    const { items } = await client.list(Event, { namespace });
    return items.some(({ message }) => message === "the deletion waits for 1 unpaid bill");
  });
  assert.ok((await client.get(Guest, key)).metadata.deletionTimestamp);
  await client.delete(ConfigMap, `${namespace}/bill`);
  await until("the guest has left", () => client.get(Guest, key).then(() => false, isNotFound));
}
