import { externalSystem, type Scenario } from "@konverge/dev";
import { connectTo, FakeServers } from "../23-postgresql/fake-servers.ts";
import { PostgresRole, postgresOperator } from "../23-postgresql/postgresql.ts";

const servers = externalSystem(() => new FakeServers(), {
  name: "server",
  // Passwords are random.
  resources: ({ roles }) => [...roles].map(([id, { login, connectionLimit }]) => [id, { login, connectionLimit }]),
});
const explored = postgresOperator(connectTo(servers));

/** A role is made, changed, gets another password, and is deleted. */
export const postgresStory: Scenario = async (environment) => {
  const { client, namespace } = environment;
  await environment.start(explored);
  const data = Object.fromEntries(["url", "user", "password"].map((key) => [key, Buffer.from(key).toString("base64")]));
  await environment.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "main" }, data });
  await environment.apply(PostgresRole.new({ metadata: { name: "app" }, spec: { server: "main" } }));
  await environment.until("the role is there", () => servers.roles.size === 1);
  const merge = { spec: { connectionLimit: 5 }, metadata: { annotations: { "examples.konverge.dev/rotate": "now" } } };
  await client.patch(PostgresRole, `${namespace}/app`, { merge });
  await environment.until("it is changed", () => [...servers.roles.values()][0]?.connectionLimit === 5);
  await environment.settled();
  await client.delete(PostgresRole, `${namespace}/app`);
  await environment.until("the role is dropped", () => servers.roles.size === 0);
  await environment.settled();
};
