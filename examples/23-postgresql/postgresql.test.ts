import assert from "node:assert/strict";
import { test } from "node:test";
import { assertNoFindings, explore, startCluster } from "@konverge/dev";
import { run } from "konverge";
import { CustomResourceDefinition, Secret } from "konverge/kinds";
import { silentLog } from "konverge/observability";
import { realClock, sleep } from "konverge/time";
import { onEmbedded } from "../test/embedded.ts";
import { postgresStory } from "../test/postgresql-story.ts";
import { postgresPrograms, startPostgres } from "./local-postgres.ts";
import { scenario } from "./postgresql.scenario.ts";
import { PostgresRole, postgresOperator } from "./postgresql.ts";
import { psqlServer } from "./psql.ts";

const ROTATE = "examples.konverge.dev/rotate";

test("roles follow their objects, with a password in a Secret", () => onEmbedded(scenario));

test("its calls survive every single fault, and crashes in between", async () => {
  assertNoFindings(await explore(postgresStory, { faults: ["external"] }));
});

const programs = postgresPrograms();

test("on a real PostgreSQL: a login works, a rotation replaces it, drift is repaired, and the role goes with its object", {
  skip: programs ? false : "PostgreSQL 15 or newer is not installed in /usr/lib/postgresql",
}, async () => {
  await using postgres = await startPostgres(programs!);
  await using cluster = await startCluster();
  const { client } = cluster;
  const { controllers } = postgresOperator((login) => psqlServer(login, postgres.psql)).create({} as never);
  await client.create(CustomResourceDefinition, PostgresRole.crd());
  await client.create(Secret, { metadata: { name: "main", namespace: "default" }, stringData: { ...postgres.login } });
  const manager = await run(controllers, { client, log: silentLog });
  const admin = psqlServer(postgres.login, postgres.psql);
  const credentials = async () => {
    const { data = {} } = await client.get(Secret, "default/app-credentials");
    const read = (key: string) => Buffer.from(data[key] ?? "", "base64").toString();
    return { user: read("username"), password: read("password"), isRotating: "next-password" in data };
  };
  const canLogin = ({ user, password }: { user: string; password: string }) =>
    psqlServer({ url: postgres.login.url, user, password }, postgres.psql)
      .read("postgres")
      .then(
        () => true,
        () => false,
      );
  try {
    await client.create(
      PostgresRole,
      PostgresRole.new({ metadata: { name: "app", namespace: "default" }, spec: { server: "main" } }),
    );
    await until("the login works", async () => canLogin(await credentials()));
    const first = await credentials();

    const annotations = { [ROTATE]: "1" };
    await client.patch(PostgresRole, "default/app", { merge: { metadata: { annotations } } });
    await until("another login works", async () => {
      const next = await credentials();
      return next.password !== first.password && !next.isRotating && (await canLogin(next));
    });
    assert.equal(await canLogin(first), false);

    const state = (await admin.read(first.user))!;
    await admin.write(first.user, { ...state, login: false }, (await credentials()).password);
    assert.equal(await canLogin(await credentials()), false);
    await client.patch(PostgresRole, "default/app", {
      merge: { metadata: { annotations: { "konverge.dev/reconcile-now": "1" } } },
    });
    await until("the drift is repaired", async () => canLogin(await credentials()));

    await client.delete(PostgresRole, "default/app");
    await until("the role is dropped", async () => (await admin.read(first.user)) === undefined);
  } finally {
    await manager.stop();
  }
});

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const clock = realClock();
  for (const deadline = clock.monotonic() + 60_000; clock.monotonic() < deadline; await sleep(clock, 50)) {
    if (await holds().catch(() => false)) return;
  }
  throw new Error(`it never came true that ${what}`);
}
