import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { ConfigMap, Job, PodSpec, Secret } from "konverge/kinds";
import { type ArchiveFacts, parseArchiveFacts } from "../src/archive-facts.ts";
import { backupJobFor } from "../src/backup-jobs.ts";
import { methodOf } from "../src/backup-volume.ts";
import type { Database } from "../src/database.ts";
import type { DatabaseBackup } from "../src/database-backup.ts";
import type { DatabaseRestore } from "../src/database-restore.ts";
import { drillScheduleFor } from "../src/drill-jobs.ts";
import { planOf, type RestorePart, restoreJobFor } from "../src/restore-jobs.ts";
import { scriptsFor } from "../src/scripts.ts";
import { parseTaskReport, type TaskReport } from "../src/task-report.ts";
import { archiveEnvironment, archiveParameters } from "../src/wal-archive.ts";
import type { Ended, MachineRoom, RunningServer } from "./postgres.ts";

export const PASSWORD = "of the administrator";
const REPLICATION = "of the replicator";
const NAME = "postgres-orders";

type Drill = NonNullable<NonNullable<Database["spec"]["backup"]>["drill"]>;

/** How a task ended. */
export interface TaskEnd {
  readonly code: number;
  readonly output: string;
  readonly report: TaskReport;
}

/** A database as users write it, with the defaults that a cluster would fill in. */
export function databaseWith(backup: Partial<NonNullable<Database["spec"]["backup"]>> = {}): Database {
  return {
    apiVersion: "example.com/v1",
    kind: "Database",
    metadata: { name: NAME, namespace: "shop" },
    spec: {
      version: "15",
      size: "5Gi",
      instances: 1,
      synchronous: 0,
      deletionPolicy: "Retain",
      backup: { keep: 7, archiveTimeout: "5m", size: "10Gi", ...backup },
    },
  };
}

/** A server that archives its WAL, and the volume with its backups: what pods of the operator would have. */
export class RecoveryRoom {
  readonly room: MachineRoom;
  readonly database: Database;
  /** The volume with backups. */
  readonly volume: string;
  /** Variables for all that is run here; a PATH with programs that only pretend, for example. */
  env: Readonly<Record<string, string>> = {};
  /** Secrets that the database names. */
  secrets: readonly Secret[] = [];
  #scripts: ConfigMap;
  readonly #scriptsFolder: string;
  #server: RunningServer | undefined;

  constructor(room: MachineRoom, database = databaseWith()) {
    this.room = room;
    this.database = database;
    this.volume = room.folder("backups");
    this.#scriptsFolder = room.folder("scripts");
    this.#scripts = scriptsFor(database);
    this.useScripts((_, text) => text);
  }

  /** From now on pods have scripts that are changed in this way. */
  useScripts(change: (name: string, text: string) => string): void {
    const original = scriptsFor(this.database);
    const data = Object.entries(original.data ?? {}).map(([name, text]) => [name, change(name, text)] as const);
    this.#scripts = { ...original, data: Object.fromEntries(data) };
    for (const [file, text] of data) writeFileSync(join(this.#scriptsFolder, file), text);
  }

  /** The same server, with a new, empty volume. */
  beside(): RecoveryRoom {
    const beside = new RecoveryRoom(this.room, this.database);
    beside.#server = this.#server;
    beside.secrets = this.secrets;
    return beside;
  }

  /** The same server, with a copy of this volume. */
  fork(): RecoveryRoom {
    const fork = this.beside();
    this.room.fill(fork.volume, this.volume);
    return fork;
  }

  /** The folder with this database's backups. */
  get backups(): string {
    return join(this.volume, NAME);
  }

  /** Empties the volume. */
  clear(): void {
    rmSync(this.backups, { recursive: true, force: true });
  }

  get server(): RunningServer {
    assert.ok(this.#server, "there is no server");
    return this.#server;
  }

  /** A new server with the role that backups are taken by. */
  async begin(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.startOn(await this.room.newData(PASSWORD), settings);
    await this.sql(`create role replicator login replication password '${REPLICATION}'`);
  }

  /** Starts the server as the operator configures it. */
  async startOn(data: string, settings: Readonly<Record<string, string>> = {}): Promise<void> {
    // Tests of the timeout set it themselves.
    const archive = { ...archiveParameters(this.database), archive_timeout: "0" };
    this.#server = await this.room.startServer(data, { ...archive, ...settings }, this.#serverEnvironment());
  }

  /** Archives a file as the server does: by its command, with its variables. */
  async archive(data: string, path: string): Promise<Ended> {
    const command = archiveParameters(this.database)["archive_command"]!;
    const words = command.replaceAll("%p", path).replaceAll("%f", basename(path));
    return this.room.run(["sh", "-c", words], { ...this.#serverEnvironment(), PGDATA: data });
  }

  #serverEnvironment(): Record<string, string> {
    const env: Record<string, string> = { SCRIPTS: this.#scriptsFolder };
    for (const { name, value } of archiveEnvironment(this.database))
      env[name] = value!.replace("/backups", this.volume);
    return { ...env, ...this.env };
  }

  /** Ends the server in any case, however it is doing. */
  async end(): Promise<void> {
    this.#server?.kill("SIGQUIT");
    await this.#server?.exited;
  }

  async stop(): Promise<string> {
    await this.room.stopServer(this.server);
    return this.server.data;
  }

  sql(query: string, database?: string): Promise<string> {
    return this.room.query(this.server.port, PASSWORD, query, database);
  }

  /** Inserts a row and returns the moment of its commit, of which no later row can be. */
  async row(name: string): Promise<string> {
    await this.sql("create table if not exists rows (name text)");
    await this.sql(`insert into rows values ('${name}')`);
    return this.now();
  }

  /** The server's time, as a target. */
  async now(): Promise<string> {
    return (await this.sql("select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')"))
      .replace(" ", "T")
      .concat("Z");
  }

  async rows(): Promise<string[]> {
    const text = await this.sql("select name from rows order by name");
    return text === "" ? [] : text.split("\n");
  }

  /** Ends the current WAL segment and waits until it is archived. */
  async archived(): Promise<string> {
    await this.sql("create table if not exists noise (a int)");
    await this.sql("insert into noise values (1)");
    const segment = await this.sql("select pg_walfile_name(pg_current_wal_lsn())");
    await this.sql("select pg_switch_wal()");
    await this.room.until(`${segment} is archived`, async () => {
      const done = await this.sql("select coalesce(last_archived_wal, '') from pg_stat_archiver");
      return done.slice(8) >= segment.slice(8);
    });
    return segment;
  }

  /** Runs the backup that the operator would run. */
  async backup(name: string, env: Readonly<Record<string, string>> = {}): Promise<TaskEnd> {
    const backup = { metadata: { name, namespace: "shop" }, spec: { database: NAME } } as DatabaseBackup;
    const job = backupJobFor(backup, this.database, { method: methodOf(this.database)!, beside: false });
    // Where backups are read from the server's own volume.
    const folders = { "/var/lib/postgresql/data": dirname(this.server.data) };
    return this.#run(job, "backup", { NAME: name, ...env }, folders);
  }

  /** What the archive has, as the server learns it. */
  async facts(): Promise<ArchiveFacts | undefined> {
    const server = { PGDATA: this.server.data, RUN: "127.0.0.1", PORT: String(this.server.port), PGPASSWORD: PASSWORD };
    const words = ["sh", join(this.#scriptsFolder, "archive-facts.sh")];
    const { code, output } = await this.room.run(words, { ...this.#serverEnvironment(), ...server });
    assert.equal(code, 0, output);
    const lines = output.split("\n").map((line) => [line.split("=")[0]!, line.slice(line.indexOf("=") + 1)] as const);
    return parseArchiveFacts(new Map(lines));
  }

  /** Runs what lets older backups go, as a backup does at its end. */
  async prune(kind: "base" | "dumps", env: Readonly<Record<string, string>>): Promise<Ended> {
    const all = { BACKUPS: this.backups, KIND: kind, ...this.env, ...env };
    return this.room.run(["sh", join(this.#scriptsFolder, "backup-prune.sh")], all);
  }

  /** Runs a part of the restore that the operator would run, on the folder that stands for the server's volume. */
  async restore(
    part: RestorePart,
    data: string,
    spec: Partial<DatabaseRestore["spec"]> = {},
    env: Readonly<Record<string, string>> = {},
  ): Promise<TaskEnd> {
    const restore = {
      metadata: { name: "back", namespace: "shop" },
      spec: { database: NAME, inPlace: true, ...spec, from: { method: methodOf(this.database), ...spec.from } },
    } as DatabaseRestore;
    const plan = planOf(restore, this.database, this.database);
    assert.ok(plan);
    return this.#run(restoreJobFor(plan, part), part, env, { "/var/lib/postgresql/data": data });
  }

  /** Runs the drill that the operator would run on its schedule. `folder` is where it restores. */
  async drill(
    folder: string,
    drill: Partial<Drill> = {},
    env: Readonly<Record<string, string>> = {},
  ): Promise<TaskEnd> {
    const { backup } = this.database.spec;
    const whole = { schedule: "0 5 * * 0", target: "random" as const, database: "postgres", ...drill };
    const database = { ...this.database, spec: { ...this.database.spec, backup: { ...backup!, drill: whole } } };
    const [schedule] = drillScheduleFor(database, { stopped: false, beside: false });
    const job = { spec: schedule!.spec!.jobTemplate.spec } as Job;
    return this.#run(job, "drill", { NAME: "drill-1", ...env }, { "/var/lib/postgresql/data": folder });
  }

  async #run(
    job: Job,
    container: string,
    env: Readonly<Record<string, string>>,
    folders: Readonly<Record<string, string>>,
  ): Promise<TaskEnd> {
    const pod: PodSpec = job.spec!.template.spec!;
    const { code, output, report } = await this.room.runContainer(pod, container, {
      configMaps: [this.#scripts],
      secrets: [this.#secret(), ...this.secrets],
      folders: { "/backups": this.volume, ...folders },
      env: { ...this.env, ...env },
    });
    return { code, output, report: parseTaskReport(report, code) };
  }

  #secret(): Secret {
    const encode = (text: string) => Buffer.from(text).toString("base64");
    return {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: `${NAME}-credentials` },
      data: {
        username: encode("postgres"),
        password: encode(PASSWORD),
        "replication-password": encode(REPLICATION),
        host: encode("127.0.0.1"),
        port: encode(String(this.#server?.port ?? 0)),
      },
    };
  }
}
