import assert from "node:assert/strict";
import { ConfigMap, CustomResourceDefinition } from "konverge/kinds";
import type { Place } from "../test/place.ts";
import { Message, messages, messageWebhooks } from "./conversion.ts";

export async function scenario({ client, namespace, run, serve, until }: Place): Promise<void> {
  // Where the webhook is becomes known when it is served.
  const conversionWebhook = { service: { name: "messages", namespace } };
  await client.create(CustomResourceDefinition, Message.crd({ conversionWebhook }) as never);
  await until("the kind is served", () => client.list(Message).then(() => true));
  await serve(messageWebhooks, "messages");
  const Old = Message.atVersion("v1");
  const metadata = { name: "m", namespace };
  await until("an old object is taken", async () => {
    await client.create(Old, { metadata, spec: { text: "Hello, Ann" } });
    return true;
  });
  assert.deepEqual((await client.get(Message, `${namespace}/m`)).spec, { greeting: "Hello", name: "Ann" });
  await run(messages);
  await until("the controller has seen it", async () => {
    return (await client.get(ConfigMap, `${namespace}/m`)).data?.["to"] === "Ann";
  });
  await client.patch(Message, `${namespace}/m`, { merge: { spec: { name: "Bob" } } });
  assert.deepEqual((await client.get(Old, `${namespace}/m`)).spec, { text: "Hello, Bob" });
}
