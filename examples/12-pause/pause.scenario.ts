import assert from "node:assert/strict";
import { PAUSED_ANNOTATION } from "konverge";
import { ConfigMap } from "konverge/kinds";
import type { Place } from "../test/place.ts";
import { Poster, posters } from "./pause.ts";

export async function scenario({ client, namespace, install, run, until }: Place): Promise<void> {
  await install(Poster);
  await run(posters);
  const text = async (name: string) => (await client.get(ConfigMap, `${namespace}/${name}`)).data?.["text"];
  const pause = (value: string | null) =>
    client.patch(Poster, `${namespace}/p`, {
      merge: { metadata: { annotations: { [PAUSED_ANNOTATION]: value } } },
    } as never);
  await client.create(Poster.new({ metadata: { name: "p", namespace }, spec: { text: "1" } }));
  await until("it is up", async () => (await text("p")) === "1");
  await pause("true");
  await client.patch(Poster, `${namespace}/p`, { merge: { spec: { text: "2" } } });
  await client.create(Poster.new({ metadata: { name: "other", namespace }, spec: { text: "later" } }));
  await until("another one is up", async () => (await text("other")) === "later");
  assert.equal(await text("p"), "1");
  await pause(null);
  await until("the new text is up", async () => (await text("p")) === "2");
}
