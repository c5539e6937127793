import assert from "node:assert/strict";
import { isNotFound } from "konverge";
import { type Clock, sleep } from "konverge/time";
import type { Place } from "../test/place.ts";
import { type Channels, Feed, feeds } from "./daemon.ts";

/** Counts, and knows who listens. */
function counting(clock: Clock, listening: string[]): Channels {
  return {
    async *messages(channel, signal) {
      listening.push(channel);
      try {
        for (let message = 1; ; message++) {
          yield message;
          await sleep(clock, 100, { signal, background: true });
        }
      } finally {
        listening.splice(listening.indexOf(channel), 1);
      }
    },
  };
}

export async function scenario({ client, namespace, install, run, until }: Place): Promise<void> {
  await install(Feed);
  const listening: string[] = [];
  await run(feeds(counting(client.clock, listening)));
  await client.create(Feed.new({ metadata: { name: "f", namespace }, spec: { channel: "news" } }));
  const status = async () => (await client.get(Feed, `${namespace}/f`)).status;
  await until("messages arrive", async () => ((await status())?.latest ?? 0) >= 3);
  assert.deepEqual(listening, ["news"]);
  await client.patch(Feed, `${namespace}/f`, { merge: { spec: { channel: "music" } } });
  await until("the other channel is followed", () => listening.join() === "music");
  await client.delete(Feed, `${namespace}/f`);
  await until("it is gone", () => client.get(Feed, `${namespace}/f`).then(() => false, isNotFound));
  assert.deepEqual(listening, []);
}
