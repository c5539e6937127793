import assert from "node:assert/strict";
import { ConfigMap, Secret } from "konverge/kinds";
import type { Place } from "../test/place.ts";
import { Login, logins } from "./references.ts";

export async function scenario({ client, namespace, install, run, until }: Place): Promise<void> {
  await install(Login);
  await run(logins);
  await client.create(Login.new({ metadata: { name: "db", namespace }, spec: { secret: "password" } }));
  const digest = async () => (await client.get(ConfigMap, `${namespace}/db-digest`)).data?.["digest"];
  await until("there is a digest of nothing", async () => (await digest()) !== undefined);
  const first = await digest();
  await client.create(Secret, { metadata: { name: "password", namespace }, stringData: { password: "1" } });
  await until("it follows the new secret", async () => (await digest()) !== first);
  const second = await digest();
  await client.patch(Secret, `${namespace}/password`, { merge: { data: { password: "Mg==" } } });
  await until("it follows the changed secret", async () => (await digest()) !== second);
  assert.equal(new Set([first, second, await digest()]).size, 3);
}
