import assert from "node:assert/strict";
import { isNotFound } from "konverge";
import { ConfigMap } from "konverge/kinds";
import type { Place } from "../test/place.ts";
import { Settings, settings } from "./children.ts";

export async function scenario({ client, namespace, install, run, until }: Place): Promise<void> {
  await install(Settings);
  await run(settings);
  await client.create(
    Settings,
    Settings.new({ metadata: { name: "app", namespace }, spec: { files: { a: "1", b: "2" } } }),
  );
  const text = async (name: string) => (await client.get(ConfigMap, `${namespace}/${name}`)).data?.["text"];
  await until("both are there", async () => (await text("app-a")) === "1" && (await text("app-b")) === "2");

  await client.patch(ConfigMap, `${namespace}/app-a`, { merge: { data: { text: "spoilt" } } });
  await until("a change by another client is reverted", async () => (await text("app-a")) === "1");

  await client.patch(Settings, `${namespace}/app`, { merge: { spec: { files: { b: null } } } });
  await until("what is no longer wanted is gone", () =>
    client.get(ConfigMap, `${namespace}/app-b`).then(() => false, isNotFound),
  );
  assert.equal(await text("app-a"), "1");
}
