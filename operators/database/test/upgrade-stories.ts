import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  Database,
  type DatabaseUpgrade,
  parseTaskReport,
  type RestorePart,
  scriptsFor,
  upgradeJobFor,
} from "@konverge/database-operator";
import type { ConfigMap, Secret } from "konverge/kinds";
import type { MachineRoom, RunningServer } from "./postgres.ts";
import type { PostgresTools } from "./postgres-tools.ts";

const PASSWORD = "of the administrator";
const REPLICATION = "of the replicator";
const SUM = "select count(*), sum(number), md5(string_agg(text, ',' order by number)) from shop.orders";
const SYSTEM = ":/usr/local/bin:/usr/bin:/bin";

/** A database of version 15, and what is done with it by the Jobs of an upgrade to version 18. */
export class UpgradeStage {
  readonly #room: MachineRoom;
  readonly #programs: { readonly old: string; readonly new: PostgresTools };
  readonly #database: Database;
  readonly #upgrade: DatabaseUpgrade;
  readonly volume: string;
  /** The settings of all servers. */
  settings = "max_connections = '40'\nshared_buffers = '16MB'\n";
  scripts: Readonly<Record<string, string>> = {};

  constructor(room: MachineRoom, old: PostgresTools, newer: PostgresTools) {
    this.#room = room;
    this.#programs = { old: old.bin, new: newer };
    this.volume = room.folder("volume");
    const metadata = { name: "postgres-real", namespace: "test" };
    this.#database = Database.parse({
      ...{ apiVersion: "example.com/v1", kind: "Database", metadata },
      spec: { version: "15", size: "1Gi" },
    } as never);
    const release = (version: string) => ({ version, image: `postgres:${version}` });
    this.#upgrade = {
      ...{ apiVersion: "example.com/v1", kind: "DatabaseUpgrade" },
      metadata: { name: "to-18", namespace: "test" },
      spec: { database: metadata.name, from: release("15.4"), to: release("18.1") },
    };
  }

  get data(): string {
    return join(this.volume, "pgdata");
  }

  /** Initializes the old version with rows, schemas, large objects and a role. */
  async fill(): Promise<void> {
    const made = await this.#room.newData(PASSWORD);
    this.#room.fill(this.volume, join(made, ".."));
    this.#room.own(this.volume);
    const server = await this.start();
    await this.query(
      server,
      "create role replicator login replication password 'of the replicator'; create role seller login password 'of the seller'",
    );
    await this.query(
      server,
      "create schema shop authorization seller; create table shop.orders (number int primary key, text text)",
    );
    await this.query(
      server,
      "insert into shop.orders select n, repeat(n::text, 30) from generate_series(1, 20000) n; select lo_from_bytea(0, 'large')",
    );
    await this.query(
      server,
      "create index on shop.orders (text); create view shop.few as select * from shop.orders where number < 10",
    );
    await this.#room.stopServer(server);
  }

  /** Starts the server with the programs of the old or the new version. */
  async start(version: "old" | "new" = "old"): Promise<RunningServer> {
    return this.#room.startServer(this.data, {}, { PATH: this.#path(version) });
  }

  query(server: RunningServer, sql: string): Promise<string> {
    return this.#room.query(server.port, PASSWORD, sql);
  }

  /** What the rows are, as the server of a version answers. */
  async sum(version: "old" | "new"): Promise<string> {
    const server = await this.start(version);
    const sum = await this.query(server, `show server_version_num; ${SUM}`);
    await this.#room.stopServer(server);
    return sum;
  }

  /** Runs the Job of a part; returns its error, or undefined if it succeeds. `port`: of the server that is rehearsed on. */
  async run(
    part: RestorePart,
    { port = 0, env = {} }: { readonly port?: number; readonly env?: Record<string, string> } = {},
  ) {
    const pod = upgradeJobFor(this.#upgrade, this.#database, part).spec!.template.spec!;
    const scripts = scriptsFor(this.#database);
    const config: ConfigMap = {
      ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "postgres-real-config" } },
      data: { "postgresql.conf": this.settings },
    };
    const secret: Secret = {
      ...{ apiVersion: "v1", kind: "Secret", metadata: { name: "postgres-real-credentials" } },
      data: { "replication-password": Buffer.from(REPLICATION).toString("base64") },
    };
    const data = part === "check" ? this.#room.folder("scratch") : this.volume;
    const folders = { "/programs": this.#room.folder("programs"), "/var/lib/postgresql/data": data };
    const setting = {
      folders,
      configMaps: [{ ...scripts, data: { ...scripts.data, ...this.scripts } }, config],
      secrets: [secret],
    };
    if (pod.initContainers) {
      const { code, output } = await this.#room.runContainer(pod, "programs", {
        ...setting,
        env: { PATH: this.#path("old") },
      });
      assert.equal(code, 0, output);
    }
    const { code, report, output } = await this.#room.runContainer(pod, part, {
      ...setting,
      env: { PATH: this.#path("new"), ...(part === "check" && { HOST: "127.0.0.1", PORT: String(port) }), ...env },
    });
    if (part === "check") assert.deepEqual(code === 0 ? readdirSync(data) : [], [], "a rehearsal leaves nothing");
    if (code === 0) return undefined;
    return parseTaskReport(report, code)["error"] ?? output;
  }

  #path(version: "old" | "new"): string {
    return `${version === "old" ? this.#programs.old : this.#programs.new.bin}${SYSTEM}`;
  }
}

type UpgradeStory = (stage: UpgradeStage) => Promise<void>;

/** A rehearsal changes nothing; the upgrade has all rows, and the old data stay until the end. */
export const upgrades: UpgradeStory = async (stage) => {
  await stage.fill();
  const before = (await stage.sum("old")).split("\n")[1]!;
  const server = await stage.start();
  assert.equal(await stage.run("check", { port: server.port }), undefined);
  assert.match((await stage.run("restore")) ?? "", /did not stop in order/, "a server that runs is not upgraded");
  assert.equal(await stage.query(server, "select count(*) from shop.orders"), "20000");
  server.kill("SIGINT");
  await server.exited;
  assert.equal(await stage.run("restore"), undefined);
  assert.equal(readFileSync(join(stage.data, "PG_VERSION"), "utf8"), "18\n");
  assert.deepEqual(readdirSync(stage.volume).sort(), ["pgdata", "pgdata.before-to-18", "pgdata.before-to-18.began"]);
  assert.equal(await stage.run("restore"), undefined, "what is done stays done");
  const [version, rows] = (await stage.sum("new")).split("\n");
  assert.match(version!, /^18/);
  assert.equal(rows, before);
  assert.equal(await stage.run("finish"), undefined);
  assert.deepEqual(readdirSync(stage.volume), ["pgdata"]);
};

/** What pg_upgrade or the new version objects to is found by the rehearsal, with the reason. */
export const refuses: UpgradeStory = async (stage) => {
  await stage.fill();
  const server = await stage.start();
  await stage.query(server, "create extension hstore");
  assert.match(
    (await stage.run("check", { port: server.port })) ?? "",
    /pg_upgrade refuses: .*could not load library "\$libdir\/hstore"/,
  );
  await stage.query(server, "drop extension hstore");
  stage.settings += "promote_trigger_file = '/tmp/none'\n";
  assert.match(
    (await stage.run("check", { port: server.port })) ?? "",
    /version 18 does not start with the parameters of the servers: .*promote_trigger_file/,
  );
  server.kill("SIGINT");
  await server.exited;
};

/** An upgrade that fails has touched nothing; one that is undone has the old data; one that has taken writes is not undone. */
export const returns: UpgradeStory = async (stage) => {
  await stage.fill();
  const before = await stage.sum("old");
  stage.settings += "no_such_parameter = '1'\n";
  assert.match(
    (await stage.run("restore")) ?? "",
    /does not start with the parameters of the servers: .*no_such_parameter/,
  );
  assert.equal(await stage.run("undo"), undefined);
  assert.deepEqual(readdirSync(stage.volume), ["pgdata"]);
  assert.equal(await stage.sum("old"), before);

  // It succeeds, and is undone before the new version has run.
  stage.settings = stage.settings.replace("no_such_parameter = '1'\n", "");
  assert.equal(await stage.run("restore"), undefined);
  assert.equal(await stage.run("undo"), undefined);
  assert.deepEqual(readdirSync(stage.volume), ["pgdata"]);
  assert.equal(await stage.sum("old"), before);

  // The new version has taken writes: going back would lose them.
  assert.equal(await stage.run("restore"), undefined);
  const server = await stage.start("new");
  await stage.query(server, "insert into shop.orders values (0, 'written by the new version')");
  server.kill("SIGINT");
  await server.exited;
  assert.match((await stage.run("undo")) ?? "", /going back would lose what was written since/);
  assert.match(await stage.sum("new"), /20001/);
  assert.equal(existsSync(join(stage.volume, "pgdata.before-to-18")), true);
};

/** Cut off at any moment, an upgrade can be undone, or done again, and has all rows. */
export const isCutOff: UpgradeStory = async (stage) => {
  await stage.fill();
  const before = (await stage.sum("old")).split("\n")[1]!;
  const text = stage.scripts["upgrade.sh"] ?? "";
  const moves = [
    '    if [ ! -d "$aside" ]; then mv',
    '  if [ -d "$work" ]; then mv',
    '  mv "$work.ready" "$aside.began"',
  ];
  assert.ok(text);
  for (const undone of [true, false]) {
    for (const move of moves.map((one) => one.trim())) {
      assert.ok(text.includes(move), move);
      stage.scripts = { "upgrade.sh": text.replace(move, `exit 9\n${move}`) };
      assert.ok(await stage.run("restore"), "it was cut off");
      stage.scripts = {};
      if (!undone) continue;
      assert.equal(await stage.run("undo"), undefined);
      assert.deepEqual(readdirSync(stage.volume), ["pgdata"]);
      assert.equal((await stage.sum("old")).split("\n")[1], before);
    }
  }
  assert.equal(await stage.run("restore"), undefined);
  assert.equal((await stage.sum("new")).split("\n")[1], before);
};
