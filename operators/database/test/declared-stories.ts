import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Database } from "@konverge/database-operator";
import type { Secret } from "konverge/kinds";
import { type DeclaredSpec, RealServers } from "./real-servers.ts";
import type { Story } from "./replication-stories.ts";

/** Names that would be something else to a shell, to SQL, to psql, to `format` or to a connection string. */
const HOSTILE = [
  `o'reilly "x"; drop table rows; --`,
  "$(touch $RUN/pwned)`touch $RUN/pwned`",
  "dbname=postgres host=evil.example.com",
  "postgresql://evil.example.com/postgres",
  `\\! touch pwned \\'`,
  ":'declared' :name %I %s %% $$ $1 {}",
  "-c log_statement=all",
  "Ünïcödé 名前  ",
  "*?[a-z] ~ #",
];

/** With the defaults of the schema. */
function spec(given: object): DeclaredSpec {
  const metadata = { name: "postgres-real", namespace: "test" };
  const object = {
    apiVersion: "example.com/v1",
    kind: "Database",
    metadata,
    spec: { version: "15", size: "1Gi", ...given },
  };
  const { roles, databases } = Database.parse(object as never).spec;
  return { ...(roles && { roles }), ...(databases && { databases }) };
}

function passwordOf(name: string, password: string, resourceVersion: string): Secret {
  const data = { password: Buffer.from(password).toString("base64") };
  return { apiVersion: "v1", kind: "Secret", metadata: { name, namespace: "test", uid: name, resourceVersion }, data };
}

const names = (rows: string) => rows.split("\n").filter((row) => row !== "");
const ROLES =
  "select rolname from pg_roles where rolname !~ '^pg_' and rolname not in ('postgres', 'monitor', 'replicator') order by 1";
const DATABASES = "select datname from pg_database where not datistemplate and datname <> 'postgres' order by 1";

/** Roles get their attributes, memberships and passwords; what is changed by hand is repaired; a rotation takes the new password. */
export const keepsRoles: Story = async (room, options = {}) => {
  const all = await RealServers.in(room, { instances: 2, synchronous: 1, ...options });
  await all.startAll();
  const login = (user: string, password: string, index = 0) =>
    room.query(all.servers[index]!.port, password, "select current_user", "postgres", user);
  // Names of which one is longer than it may be for its characters, none of which is ASCII.
  const secret = (password: string, version = "1") => [passwordOf("of-app", password, version)];
  const roles = [
    { name: "readers" },
    { name: "writers", comment: "they'd write" },
    {
      ...{ name: "app", login: true, createdb: true, connectionLimit: 7, validUntil: "2099-01-01T00:00:00Z" },
      ...{ inRoles: ["readers"], passwordSecret: { name: "of-app" } },
    },
  ];
  const first = await all.declare(0, spec({ roles }), secret("päss ﬁ\u00a0wörd $1 '\"\\"));
  assert.deepEqual(first.declaredProblems, []);
  assert.equal(await login("app", "päss ﬁ\u00a0wörd $1 '\"\\"), "app");
  assert.equal(await login("app", "päss ﬁ\u00a0wörd $1 '\"\\", 0), "app");
  assert.doesNotMatch(all.declared, /wörd/, "the server gets a verifier");
  const attributes = `select rolcreatedb, rolsuper, rolinherit, rolconnlimit, rolvaliduntil at time zone 'UTC',
    pg_has_role('app', 'readers', 'member'), pg_has_role('app', 'writers', 'member') from pg_roles where rolname = 'app'`;
  const expected = "t|f|t|7|2099-01-01 00:00:00|t|f";
  assert.equal(await all.query(0, attributes), expected);
  assert.equal(await all.query(0, "select shobj_description('writers'::regrole, 'pg_authid')"), "they'd write");

  // Nothing is written while nothing differs.
  const snapshot = "select pg_snapshot_xmax(pg_current_snapshot())";
  const before = await all.query(0, snapshot);
  const checks = "select count(*) from pg_stat_activity";
  for (let second = 0; second < 6; second++) await all.query(0, `${checks}; select pg_sleep(0.5)`);
  assert.equal(await all.query(0, snapshot), before);

  // What is changed by hand, the password included, is as declared again.
  await all.query(0, "create role other superuser");
  await all.query(
    0,
    `alter role app nocreatedb superuser noinherit connection limit 3 valid until '2001-01-01' password 'other';
    grant writers to app; set role other; grant other to app; reset role; revoke readers from app; comment on role writers is null`,
  );
  await all.answers(0, attributes, expected);
  await all.answers(0, "select shobj_description('writers'::regrole, 'pg_authid')", "they'd write");
  await all.answers(0, "select pg_has_role('app', 'other', 'member')", "f");
  assert.equal(await login("app", "päss ﬁ\u00a0wörd $1 '\"\\"), "app");

  // Another version of the Secret with the same password changes nothing; another password is set.
  const same = all.declared;
  await all.declare(0, spec({ roles }), secret("päss ﬁ\u00a0wörd $1 '\"\\", "2"));
  assert.equal(all.declared, same);
  await all.declare(0, spec({ roles }), secret("rotated", "3"));
  assert.equal(await login("app", "rotated"), "app");
  await assert.rejects(login("app", "päss ﬁ\u00a0wörd $1 '\"\\"), /password authentication failed/);
  await all.answers(1, "select rolcanlogin from pg_roles where rolname = 'app'", "t");
  assert.equal(await login("app", "rotated", 1), "app");

  // The next primary goes on.
  all.follow({ term: 2, primary: "" });
  await all.becomes(0, "stopped");
  all.follow({ term: 3, primary: all.nameOf(1), upstream: all.nameOf(1) });
  await all.becomes(1, "primary");
  await all.streams(0);
  await all.declare(
    1,
    spec({
      roles: [
        { name: "app", login: true, disablePassword: true },
        { name: "readers", ensure: "absent" },
      ],
    }),
  );
  await all.answers(1, ROLES, "app\nother\nwriters");
  await assert.rejects(login("app", "rotated", 1), /password authentication failed/);
  assert.equal((await all.status(0))?.declared, undefined, "a standby reports nothing");
  for (const { container } of all.servers) assert.doesNotMatch(container!.output(), /SCRAM-SHA|rotated|wörd/);
};

/** Databases have their owner, schemas and extensions; what cannot be done is reported, and keeps nothing else from being done. */
export const keepsDatabases: Story = async (room, options = {}) => {
  const all = await RealServers.in(room, { instances: 1, ...options });
  all.start(0);
  await all.becomes(0, "primary");
  const inShop = (sql: string) => room.query(all.servers[0]!.port, all.password, sql, "shop");
  const roles = [{ name: "owner" }, { name: "auditor" }];
  const shop = {
    ...{ name: "shop", owner: "owner", connectionLimit: 20 },
    schemas: [{ name: "sales" }, { name: "audit", owner: "auditor" }],
    extensions: [{ name: "hstore", schema: "sales", version: "1.7" }, { name: "pg_trgm" }],
  };
  const first = await all.declare(0, spec({ roles, databases: [shop] }));
  assert.deepEqual(first.declaredProblems, []);
  const schemas =
    "select string_agg(nspname || ' ' || pg_get_userbyid(nspowner), ', ' order by nspname) from pg_namespace where nspname in ('sales', 'audit')";
  const extensions = `select string_agg(extname || ' ' || extversion || ' ' || nspname, ', ' order by extname)
    from pg_extension join pg_namespace n on n.oid = extnamespace where extname <> 'plpgsql'`;
  assert.equal(await inShop(schemas), "audit auditor, sales owner");
  const trigrams = await inShop("select default_version from pg_available_extensions where name = 'pg_trgm'");
  assert.equal(await inShop(extensions), `hstore 1.7 sales, pg_trgm ${trigrams} public`);

  // What is changed by hand is repaired.
  await inShop(
    "drop extension pg_trgm; alter extension hstore set schema public; alter schema audit owner to owner; drop schema sales",
  );
  await all.query(0, "alter database shop owner to auditor; alter database shop connection limit 1");
  const owner = "select pg_get_userbyid(datdba), datconnlimit from pg_database where datname = 'shop'";
  await all.answers(0, owner, "owner|20");
  await all.until("the schemas are back", async () => (await inShop(schemas)) === "audit auditor, sales owner");
  await all.until("the extensions are back", async () =>
    (await inShop(extensions)).startsWith("hstore 1.7 sales, pg_trgm"),
  );

  // What fails is reported with PostgreSQL's reason.
  await inShop("create table sales.rows (text text); alter table sales.rows owner to owner");
  const failing = await all.declare(
    0,
    spec({
      roles: [{ name: "owner", ensure: "absent" }, { name: "auditor", inRoles: ["nobody"] }, { name: "new" }],
      databases: [
        {
          ...shop,
          schemas: [{ name: "sales", ensure: "absent" }],
          extensions: [{ name: "no-such" }, { name: "citext" }],
        },
        { name: "orphan", owner: "nobody" },
      ],
    }),
  );
  const problems = failing.declaredProblems!.map(({ kind, name, message }) => `${kind} ${name}: ${message}`);
  assert.equal(problems.length, 5, problems.join("\n"));
  assert.match(problems[0]!, /^role auditor: role "nobody" does not exist/);
  assert.match(
    problems[1]!,
    /^database shop: schema sales: cannot drop schema sales because other objects depend on it/,
  );
  assert.match(problems[2]!, /^database shop: extension no-such: .*not available/);
  assert.match(problems[3]!, /^database orphan: .*role "nobody" does not exist/);
  assert.match(
    problems[4]!,
    /^role owner: .*cannot be dropped because some objects depend on it: owner of database shop/,
  );
  assert.equal(await inShop("select extname from pg_extension where extname = 'citext'"), "citext");
  assert.equal(await all.query(0, ROLES), "auditor\nnew\nowner", "what is not listed stays, and the rest was done");

  // A database is dropped on request, and then its owner can be.
  const without = await all.declare(
    0,
    spec({ roles: [{ name: "owner", ensure: "absent" }], databases: [{ name: "shop", ensure: "absent" }] }),
  );
  assert.deepEqual(without.declaredProblems, []);
  assert.equal(await all.query(0, DATABASES), "");
  assert.equal(await all.query(0, ROLES), "auditor\nnew");
};

/** Names are nothing but names. */
export const quotesNames: Story = async (room, options = {}) => {
  const all = await RealServers.in(room, { instances: 1, ...options });
  all.start(0);
  await all.becomes(0, "primary");
  await all.query(0, "create table rows (text text)");
  const roles = HOSTILE.map((name, index) => ({
    ...{ name, comment: name, inRoles: HOSTILE.slice(index + 1, index + 2), login: true, passwordSecret: { name } },
  }));
  const databases = HOSTILE.map((name) => ({
    ...{ name, owner: name, schemas: [{ name, owner: name }], extensions: [{ name: "hstore", schema: name }] },
  }));
  const given = spec({ roles, databases });
  const passwords = HOSTILE.map((name) => passwordOf(name, name, "1"));
  const report = await all.declare(0, given, passwords);
  assert.deepEqual(report.declaredProblems, []);
  assert.deepEqual(names(await all.query(0, ROLES)).sort(), [...HOSTILE].map((name) => name.trimEnd()).sort());
  assert.deepEqual(names(await all.query(0, DATABASES)).length, HOSTILE.length);
  const { port } = all.servers[0]!;
  for (const name of HOSTILE) {
    assert.equal(await room.query(port, name, "select current_user = session_user", "postgres", name), "t");
    const inDatabase = await room.run(
      [
        "psql",
        "-h",
        "127.0.0.1",
        "-p",
        String(port),
        "-U",
        "postgres",
        "-XAt",
        "-c",
        "select nspname from pg_extension join pg_namespace n on n.oid = extnamespace where extname = 'hstore'",
      ],
      { PGDATABASE: name, PGPASSWORD: all.password },
    );
    assert.equal(inDatabase.output.replace(/\n$/, ""), name);
  }
  assert.equal(await all.query(0, "select count(*) from rows"), "0");
  // An extension's name and a version are the user's, too.
  const bad = await all.declare(
    0,
    spec({
      databases: [{ name: "one", owner: "postgres", extensions: HOSTILE.map((name) => ({ name, version: name })) }],
    }),
  );
  assert.equal(bad.declaredProblems!.length, HOSTILE.length);
  const absent = spec({
    databases: HOSTILE.map((name) => ({ name, ensure: "absent" })),
    roles: HOSTILE.map((name) => ({ name, ensure: "absent" })),
  });
  assert.deepEqual((await all.declare(0, absent)).declaredProblems, []);
  assert.equal(await all.query(0, ROLES), "");
  assert.equal(await all.query(0, DATABASES), "one");
  for (const folder of [room.root, all.servers[0]!.run, all.servers[0]!.volume, join(all.servers[0]!.volume, "pgdata")])
    assert.equal(existsSync(join(folder, "pwned")), false);
  assert.doesNotMatch(all.servers[0]!.container!.output(), /SCRAM-SHA/);
};
