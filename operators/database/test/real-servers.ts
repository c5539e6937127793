import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  applicationSecretFor,
  backupJobFor,
  configFor,
  configurationDigest,
  credentialsFor,
  Database,
  type DatabaseBackup,
  type DatabaseRestore,
  declaredDigest,
  declaredSecretFor,
  engineOf,
  parseServerReport,
  parseTaskReport,
  planOf,
  restoreJobFor,
  type ServerReport,
  scriptsFor,
  statefulSetFor,
  type Topology,
  topologyFor,
} from "@konverge/database-operator";
import type { ConfigMap, Job, PodSpec, Secret } from "konverge/kinds";
import { realClock, sleep, VirtualClock } from "konverge/time";
import { InVain, type MachineRoom, type RunningContainer } from "./postgres.ts";

/** Tests' data need not outlive a power cut, which a Database does not accept as a parameter. */
const CARELESS = "fsync = off\n";
const QUICK = {
  shared_buffers: "16MB",
  max_connections: "40",
  max_wal_size: "128MB",
  // In files of the volume: what a killed server leaves goes with it.
  dynamic_shared_memory_type: "mmap",
};

const clock = realClock();

/** One server: its pod is recreated, its volume stays. */
class RealServer {
  readonly name: string;
  readonly port: number;
  readonly volume: string;
  readonly topology: string;
  readonly credentials: string;
  readonly application: string;
  readonly tls: string;
  readonly declared: string;
  readonly run: string;
  readonly config: string;
  container: RunningContainer | undefined;

  constructor(room: MachineRoom, name: string, port: number) {
    this.name = name;
    this.port = port;
    this.volume = room.folder("volume");
    this.topology = room.folder("topology");
    this.credentials = room.folder("credentials");
    this.application = room.folder("application");
    this.tls = room.folder("tls");
    this.declared = room.folder("declared");
    // A socket's path has at most 107 characters.
    this.run = room.folder("run");
    this.config = room.folder("config");
  }
}

/**
 * The servers of one Database as real processes: containers of the rendered pod, with its scripts, on a folder each. The test
 * plays the operator and the nodes: it says what the topology and the Secret are, and when pods end.
 */
export class RealServers {
  readonly room: MachineRoom;
  readonly database: Database;
  readonly servers: RealServer[] = [];
  /** The volume with backups and WAL, which all of them share. */
  readonly backups: string;
  readonly #pod: PodSpec;
  readonly #scripts: ConfigMap;
  #config: ConfigMap;
  #secret: Secret;
  readonly #applicationSecrets: readonly Secret[];
  #topology: Topology;
  #declared: Secret | undefined;
  #synchronous: number;
  /** The last token of each server. */
  readonly #tokens = new Map<number, string>();
  readonly #fenceSeconds: number | undefined;
  #extendedAt = 0;
  /** It extends no lease. */
  operatorIsAway = false;

  private constructor(room: MachineRoom, options: RealServersOptions) {
    this.room = room;
    this.backups = room.folder("backups");
    this.#fenceSeconds = options.fenceSeconds;
    this.database = Database.parse({
      apiVersion: "example.com/v1",
      kind: "Database",
      metadata: { name: "postgres-real", namespace: "test" },
      spec: {
        version: "15",
        size: "1Gi",
        instances: options.instances,
        parameters: { ...QUICK, ...options.parameters },
        ...(options.archived && { backup: {} }),
        // Stories ask over the network.
        ...(options.application && {
          application: options.application,
          enableSuperuserAccess: options.superuserAccess ?? true,
        }),
        ...(options.certificate && { tls: { required: true } }),
      },
    } as never);
    const engine = engineOf(this.database);
    const draft = statefulSetFor(this.database, engine, { replicas: options.instances, claimed: undefined });
    this.#pod = draft.spec!.template.spec!;
    const scripts = scriptsFor(this.database);
    this.#scripts = { ...scripts, data: { ...scripts.data, ...options.scripts } };
    this.#config = configOf(this.database);
    const { secrets } = new VirtualClock();
    this.#secret = credentialsFor(this.database, engine, {
      live: undefined,
      secrets,
      now: 0,
      reportedDigest: undefined,
    });
    this.#applicationSecrets = applicationSecretFor(this.database, engine, { live: undefined, secrets });
    this.#synchronous = options.synchronous ?? 0;
    this.#topology = { term: 1, primary: this.nameOf(0), upstream: this.nameOf(0), fresh: true };
  }

  /** Ready to be started, one after the other. */
  static async in(room: MachineRoom, options: RealServersOptions): Promise<RealServers> {
    const all = new RealServers(room, options);
    for (let index = 0; index < options.instances; index++) {
      all.servers.push(new RealServer(room, all.nameOf(index), await room.freePort()));
    }
    all.follow({});
    all.configure(options.parameters ?? {});
    all.give({});
    all.giveApplication({});
    if (options.certificate) all.certify(options.certificate);
    return all;
  }

  nameOf(index: number): string {
    return `${this.database.metadata.name}-${index}`;
  }

  get topology(): Topology {
    return this.#topology;
  }

  get password(): string {
    return Buffer.from(this.#secret.data?.["password"] ?? "", "base64").toString();
  }

  /** What the Secret holds of passwords. */
  get passwords(): Record<string, string> {
    const data = Object.entries(this.#secret.data ?? {}).filter(([key]) => key.endsWith("password"));
    return Object.fromEntries(data.map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
  }

  /** Changes the topology that nodes bring to some pods, or to all. */
  follow(change: Partial<Topology>, options: FollowOptions = {}): void {
    this.#topology = { ...this.#topology, ...change };
    this.#synchronous = options.synchronous ?? this.#synchronous;
    const rendered = topologyFor(this.database, this.#topology, {
      instances: this.servers.length,
      synchronous: this.#synchronous,
      port: 5432,
      fenced: (options.fenced ?? []).map((index) => this.nameOf(index)),
    });
    // Hosts and ports are other ones here.
    const text = this.servers.reduce((all, { name, port }, index) => {
      const here = options.without?.includes(index) ? "" : `${name}=127.0.0.1:${port}`;
      return all.replace(`${name}=${name}.postgres-real-pods:5432`, here);
    }, rendered.data!["topology"]!);
    for (const index of options.only ?? this.servers.keys())
      this.#place(this.servers[index]!.topology, { topology: text });
  }

  /** Changes what the Secret holds; undefined takes a key away. */
  give(change: Readonly<Record<string, string | undefined>>): void {
    const data = { ...this.#secret.data };
    for (const [key, value] of Object.entries(change)) {
      if (value === undefined) delete data[key];
      else data[key] = Buffer.from(value).toString("base64");
    }
    this.#secret = { ...this.#secret, data };
    const files = Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]),
    );
    for (const { credentials } of this.servers) {
      this.#place(credentials, { "next-password": "", ...files });
    }
  }

  /** What the pod mounts; what of it is in folders of each server is not read here. */
  get #secrets(): Secret[] {
    const tls: Secret = { apiVersion: "v1", kind: "Secret", metadata: { name: `${this.database.metadata.name}-tls` } };
    return [this.#secret, ...this.#applicationSecrets, tls];
  }

  /** What the Secret of the application's role holds. */
  get application(): Record<string, string> {
    const data = Object.entries(this.#applicationSecrets[0]?.data ?? {});
    return Object.fromEntries(data.map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
  }

  /** Changes what nodes bring of it. */
  giveApplication(change: Readonly<Record<string, string>>): void {
    for (const { application } of this.servers) this.#place(application, { ...this.application, ...change });
  }

  /** Changes the certificate that nodes bring. */
  certify({ cert, key }: Certificate): void {
    for (const { tls } of this.servers) this.#place(tls, { "tls.crt": cert, "tls.key": key });
  }

  /** Changes the parameters that nodes bring. */
  configure(parameters: Readonly<Record<string, string>>): void {
    const { spec } = this.database;
    const changed = { ...this.database, spec: { ...spec, parameters: { ...QUICK, ...parameters } } };
    this.#config = configOf(changed);
    for (const { config } of this.servers) this.#place(config, this.#config.data ?? {});
  }

  /** Declares roles and databases, with the Secrets of their passwords, and waits until the primary has carried them out. */
  async declare(index: number, spec: DeclaredSpec, passwords: readonly Secret[] = []): Promise<ServerReport> {
    const secretOf = (name: string) => passwords.find(({ metadata }) => metadata.name === name);
    const database = { ...this.database, spec: { ...this.database.spec, ...spec } };
    const { secrets } = clock;
    [this.#declared] = declaredSecretFor(database, { live: this.#declared, secretOf, secrets });
    const { "declared.json": text = "" } = this.#declared?.data ?? {};
    for (const { declared } of this.servers)
      this.#place(declared, { "declared.json": Buffer.from(text, "base64").toString() });
    let report: ServerReport | undefined;
    await this.until("what is declared is carried out", async () => {
      report = await this.status(index);
      return report?.declared === declaredDigest(this.#declared);
    });
    return report!;
  }

  /** What the server gets of it. */
  get declared(): string {
    return Buffer.from(this.#declared?.data?.["declared.json"] ?? "", "base64").toString();
  }

  /** The digest of the configuration that nodes bring. */
  get configuration(): string {
    return configurationDigest(this.#config);
  }

  /** Restarts a server as the operator does, and waits until it runs with its parameters. */
  async restart(index: number, role: "primary" | "standby"): Promise<void> {
    const started = "select pg_postmaster_start_time()";
    const before = await this.query(index, started);
    const since = (this.#topology.restart?.since ?? 0) + 1;
    this.follow({ restart: { name: this.nameOf(index), since } });
    await this.until(`${this.nameOf(index)} starts again`, async () => {
      return ![before, ""].includes(await this.query(index, started).catch(() => ""));
    });
    if (role === "primary") await this.becomes(index, role);
    else await this.streams(index);
  }

  /** Starts a pod. */
  start(index: number): void {
    const server = this.servers[index]!;
    const { folders, env } = this.#setting(server);
    server.container = this.room.startContainer(this.#pod, "database", {
      configMaps: [this.#config, this.#scripts],
      secrets: this.#secrets,
      folders,
      env,
    });
  }

  /** Ends a pod: with SIGTERM, or as a power cut would. */
  async end(index: number, how: "terminated" | "killed" = "terminated"): Promise<void> {
    const { container } = this.servers[index]!;
    if (!container) return;
    if (how === "terminated") container.kill("SIGTERM");
    else process.kill(-container.pid, "SIGKILL");
    this.servers[index]!.container = undefined;
    let hasEnded = false;
    void container.exited.then(() => {
      hasEnded = true;
    });
    await this.until(`${this.nameOf(index)} ends`, () => hasEnded);
  }

  /** Mounts a server's volume as a kubelet does for a pod with fsGroup: the group may write everywhere. */
  remount(index: number): void {
    const { volume } = this.servers[index]!;
    assert.equal(spawnSync("chmod", ["-R", "g+rwX", volume]).status, 0);
    assert.equal(spawnSync("find", [volume, "-type", "d", "-exec", "chmod", "g+s", "{}", "+"]).status, 0);
  }

  /** What `status.sh` says in a pod. As the operator does, it extends the lease of the server that leads. */
  async status(index: number): Promise<ServerReport | undefined> {
    const token = this.#tokens.get(index);
    const { term, primary } = this.#topology;
    const isGranted = !this.operatorIsAway && token !== undefined && primary === this.nameOf(index);
    return this.queried(index, isGranted ? `${term}.${token}` : undefined);
  }

  /** The same, with this grant. */
  async queried(index: number, grant?: string): Promise<ServerReport | undefined> {
    const { output } = await this.#exec(index, ["sh", "/scripts/status.sh", ...(grant ? [grant] : [])]);
    const report = parseServerReport(output);
    if (report?.token !== undefined) this.#tokens.set(index, report.token);
    return report;
  }

  /** Queries the primary as often as it needs a lease, while something is waited for. */
  async #extendLease(): Promise<void> {
    const index = this.servers.findIndex(({ name, container }) => name === this.#topology.primary && container);
    if (this.operatorIsAway || index === -1 || this.servers.length < 2) return;
    if (clock.monotonic() - this.#extendedAt < 500) return;
    this.#extendedAt = clock.monotonic();
    await this.status(index);
  }

  /** Whether the liveness probe of a pod succeeds. */
  async isAlive(index: number): Promise<boolean> {
    return (await this.#exec(index, this.#pod.containers[0]!.livenessProbe!.exec!.command!)).code === 0;
  }

  /** Whether a server that asks for a file of the archive gets it. */
  async fetches(index: number, name: string): Promise<boolean> {
    return (await this.#exec(index, ["sh", "/scripts/restore-wal.sh", name, "/run/database/fetched"])).code === 0;
  }

  /** Runs a command in a pod, beside its server. */
  #exec(index: number, command: readonly string[]) {
    const pod = { ...this.#pod, containers: [{ ...this.#pod.containers[0]!, command: [...command] }] };
    const { folders, env } = this.#setting(this.servers[index]!);
    const configMaps = [this.#config, this.#scripts];
    return this.room.runContainer(pod, "database", { configMaps, secrets: this.#secrets, folders, env });
  }

  /** Waits until a server has carried out the topology and is what is expected of it. */
  async becomes(index: number, role: string): Promise<ServerReport> {
    let last: ServerReport | undefined;
    try {
      await this.until(`${this.nameOf(index)} is ${role} of term ${this.#topology.term}`, async () => {
        last = await this.status(index);
        return last?.role === role && last.term === this.#topology.term;
      });
    } catch (error) {
      const log = this.servers[index]!.container?.output() ?? "it does not run";
      (error as Error).message += `; it is ${last?.role} of ${last?.term}\n${log.slice(-3000)}`;
      throw error;
    }
    return last!;
  }

  /** Starts the first server and then all others, and waits until they stream. */
  async startAll(): Promise<void> {
    this.start(0);
    await this.becomes(0, "primary");
    this.follow({ fresh: false });
    for (const index of this.servers.keys()) if (index > 0) this.start(index);
    for (const index of this.servers.keys()) if (index > 0) await this.streams(index);
  }

  /** Waits until a standby receives from its primary. */
  async streams(index: number): Promise<void> {
    await this.becomes(index, "standby");
    await this.until(`${this.nameOf(index)} streams`, async () => (await this.status(index))?.streaming === true);
  }

  /** Takes a base backup of a server, as its Job does. */
  async backup(index: number, name: string): Promise<void> {
    const backup = { metadata: { name, namespace: "test" }, spec: { database: this.database.metadata.name } };
    const job = backupJobFor(backup as DatabaseBackup, this.database, { method: "physical", beside: false });
    const env = { NAME: name, HOST: "127.0.0.1", STANDBY_HOST: "", PORT: String(this.servers[index]!.port) };
    const { code, output } = await this.#task(job, "backup", { "/backups": this.backups }, env);
    assert.equal(code, 0, output);
  }

  /** What a query answers when the backups are restored into an empty volume, or why they are not. */
  async restored(sql: string, spec: Partial<DatabaseRestore["spec"]> = {}): Promise<string> {
    const volume = this.room.folder("restored");
    const restore = {
      metadata: { name: "back", namespace: "test" },
      spec: { database: this.database.metadata.name, ...spec },
    };
    const plan = planOf(restore as DatabaseRestore, this.database, this.database)!;
    const folders = { "/backups": this.backups, "/var/lib/postgresql/data": volume };
    const { code, output, report } = await this.#task(restoreJobFor(plan, "restore"), "restore", folders, {});
    if (code !== 0) return parseTaskReport(report, code)["error"] ?? output;
    const server = await this.room.startServer(join(volume, "pgdata"));
    const answer = await this.room.query(server.port, this.password, sql);
    await this.room.stopServer(server);
    return answer;
  }

  #task(job: Job, name: string, folders: Record<string, string>, env: Record<string, string>) {
    const configMaps = [this.#config, this.#scripts];
    return this.room.runContainer(job.spec!.template.spec!, name, { configMaps, secrets: this.#secrets, folders, env });
  }

  /** What a query answers, from outside. */
  query(index: number, sql: string, password = this.password): Promise<string> {
    return this.room.query(this.servers[index]!.port, password, sql);
  }

  /** Waits until a query answers as expected. */
  async answers(index: number, sql: string, expected: string): Promise<void> {
    let last = "";
    await this.until(`${this.nameOf(index)} answers ${expected} to ${sql}`, async () => {
      last = await this.query(index, sql).catch((error: Error) => error.message);
      return last === expected;
    }).catch((error: Error) => {
      error.message += `; it says ${last}\n${this.servers[index]!.container?.output().slice(-3000) ?? ""}`;
      throw error;
    });
  }

  /** Whether a server answers at all. */
  async isUp(index: number): Promise<boolean> {
    const { port } = this.servers[index]!;
    return (await this.room.run(["pg_isready", "-q", "-h", "127.0.0.1", "-p", String(port)])).code === 0;
  }

  /** Polls until the condition holds; fails when a pod that should run has ended. */
  async until(what: string, condition: () => Promise<boolean> | boolean): Promise<void> {
    const deadline = clock.monotonic() + this.room.patience;
    for (let pause = 50; !(await condition()); pause = Math.min(pause * 2, 400)) {
      await this.#extendLease();
      for (const { name, container } of this.servers) {
        const code = container && (await Promise.race([container.exited, Promise.resolve(undefined)]));
        if (code !== undefined) throw new Error(`${name} has ended with ${code}, waiting for this: ${what}`);
      }
      if (clock.monotonic() > deadline) throw new InVain(`waited in vain: ${what}`);
      await sleep(clock, pause);
    }
  }

  #setting({ name, port, volume, topology, credentials, application, tls, declared, run, config }: RealServer) {
    return {
      folders: {
        "/var/lib/postgresql/data": volume,
        "/topology": topology,
        "/credentials": credentials,
        "/application": application,
        "/tls": tls,
        "/declared": declared,
        "/run/database": run,
        "/etc/database": config,
        "/backups": this.backups,
      },
      env: {
        POD_NAME: name,
        PORT: String(port),
        INTERVAL: "0.2",
        WATCH_INTERVAL: "0.5",
        DECLARED_SECONDS: "1",
        ...this.#fencing,
      },
    };
  }

  get #fencing(): Record<string, string> {
    return this.#fenceSeconds === undefined ? {} : { FENCE_SECONDS: String(this.#fenceSeconds) };
  }

  /** As a node does: a reader sees the old file or the new one. */
  #place(folder: string, files: Readonly<Record<string, string>>): void {
    if (!existsSync(folder)) mkdirSync(folder);
    for (const [name, text] of Object.entries(files)) {
      const path = join(folder, name);
      writeFileSync(`${path}.new`, text);
      renameSync(`${path}.new`, path);
    }
  }
}

function configOf(database: Database): ConfigMap {
  const config = configFor(database, engineOf(database));
  return { ...config, data: { ...config.data, "postgresql.conf": `${config.data?.["postgresql.conf"]}${CARELESS}` } };
}

/** Roles and databases, with the defaults that the API server fills in. */
export type DeclaredSpec = Pick<Database["spec"], "roles" | "databases">;

/** A certificate and its private key, PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface RealServersOptions {
  readonly instances: number;
  readonly synchronous?: number;
  /** A database and its owner. */
  readonly application?: { readonly database?: string; readonly owner?: string };
  /** Whether the superuser can log in over the network. Default: true. */
  readonly superuserAccess?: boolean;
  /** TLS is required, with this certificate. */
  readonly certificate?: Certificate;
  /** Seconds without contact after which a primary stops. Default: those of the rendered pod. */
  readonly fenceSeconds?: number;
  /** WAL is archived. */
  readonly archived?: boolean;
  /** Settings of the servers. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Scripts in place of those that are rendered: for tests that must fail. */
  readonly scripts?: Readonly<Record<string, string>>;
}

export interface FollowOptions {
  /** The pods whose nodes bring it to them. Default: all. */
  readonly only?: readonly number[];
  /** Servers that are no longer members. */
  readonly without?: readonly number[];
  readonly synchronous?: number;
  /** Servers that the user has fenced. */
  readonly fenced?: readonly number[];
}
