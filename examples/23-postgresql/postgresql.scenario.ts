import { isNotFound } from "konverge";
import { Secret } from "konverge/kinds";
import type { Place } from "../test/place.ts";
import { connectTo, FakeServers } from "./fake-servers.ts";
import { PostgresRole, postgresOperator } from "./postgresql.ts";

export async function scenario({ client, namespace, install, run, until }: Place): Promise<void> {
  await install(PostgresRole);
  const servers = new FakeServers();
  const { controllers } = postgresOperator(connectTo(servers)).create({} as never);
  await run(controllers);
  const stringData = { url: "postgresql://main", user: "admin", password: "secret" };
  await client.create(Secret, { metadata: { name: "main", namespace }, stringData });
  await client.create(
    PostgresRole,
    PostgresRole.new({ metadata: { name: "app", namespace }, spec: { server: "main" } }),
  );
  await until("the role is there", () => servers.roles.size === 1);
  const [id = ""] = servers.roles.keys();
  const before = servers.roles.get(id)!.passwordDigest;
  const annotations = { "examples.konverge.dev/rotate": "now" };
  await client.patch(PostgresRole, `${namespace}/app`, { merge: { metadata: { annotations } } });
  await until("it has another password", () => servers.roles.get(id)?.passwordDigest !== before);
  await until("the Secret has one password again", async () => {
    const { data = {} } = await client.get(Secret, `${namespace}/app-credentials`);
    return data["password"] !== undefined && data["next-password"] === undefined;
  });
  await client.delete(PostgresRole, `${namespace}/app`);
  await until("it is gone", () => client.get(PostgresRole, `${namespace}/app`).then(() => false, isNotFound));
  await until("the role is dropped", () => servers.roles.size === 0);
}
