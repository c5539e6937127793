import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { FENCE_SECONDS } from "@konverge/database-operator";
import type { TestEnvironment } from "@konverge/operator-suite";
import { ConfigMap, Pod, Secret } from "konverge/kinds";
import { sleep } from "konverge/time";
import { type Order, parsedOrder } from "./pretend-order.ts";

/** What a volume holds: it outlives its pods. */
interface Volume {
  term: number;
  timeline: number;
  /** What was written, in order. */
  rows: string[];
  isStandby: boolean;
  followed: number;
  /** The most connections of the primary that wrote what it has. */
  connections: number;
}

/** A server in a pod. */
interface Server {
  readonly pod: string;
  readonly uid: string;
  readonly volume: Volume;
  role: string;
  /** Of the topology that it has carried out. */
  term: number;
  upstream: string;
  confirming: { required: number; names: string[] } | undefined;
  /** Partitioned: it gets no updates and cannot be reached, except by its standbys. */
  isolated: boolean;
  /** Its answers are lost, although it gets the operator's queries. */
  mute: boolean;
  /** It has no standbys, and needs no lease. */
  alone: boolean;
  /** The term and the second of the last contact with the operator and with a standby. */
  leases: { operator: Lease; standbys: Lease };
  /** The checkpoint that it has made, and the seconds that its stop still takes. */
  checkpoint: string;
  stopsIn: number | undefined;
  promotedIn: number | undefined;
  /** Its configuration, the most connections that it was started with, and the restarts that it was ordered to make. */
  config: string;
  /** Where the Database is that it follows. */
  source: string;
  /** The roles and databases that are declared, as JSON. */
  declared: string;
  connections: number;
  restarted: string;
  asked: boolean;
}

interface Lease {
  readonly term: number;
  readonly at: number;
}

const NEVER: Lease = { term: 0, at: Number.NEGATIVE_INFINITY };
const EMPTY: Volume = { term: 0, timeline: 0, rows: [], isStandby: false, followed: 0, connections: 0 };

/**
 * Servers that behave as `server.sh` does, without PostgreSQL: for scenarios in which it matters what the operator does, at
 * any moment and whatever dies. Real ones are in `real-servers.ts`.
 *
 * They take a row from a client every second where they can, and check at all times what must never be: that two of them
 * acknowledge writes.
 */
export class PretendServers {
  readonly #volumes = new Map<string, Volume>();
  readonly #running = new Map<string, Server>();
  readonly #stage: TestEnvironment;
  /** The rows that were acknowledged to clients. */
  readonly acknowledged: string[] = [];
  /** Servers that were restarted in their pods, in order. */
  readonly restarts: string[] = [];
  /** Violations of invariants. */
  readonly wrongs: string[] = [];
  /** KiB that each volume has, and that are used of them. */
  size = 1_048_576;
  used = 100_000;
  password = "";
  /** What the archive of a primary has, as `archive-facts.sh` prints it. */
  archive: readonly string[] = [];
  /** The rows of the Database that others follow, by what the topology says of it. */
  readonly sources = new Map<string, readonly string[]>();
  /** Declared roles and databases that PostgreSQL refuses. */
  impossible: readonly { readonly kind: "role" | "database"; readonly name: string }[] = [];
  /** What a pod that is no server does, by its container: its exit code. */
  task: (pod: Pod, container: string) => number = () => 0;
  /** Seconds that a stop in good order takes. */
  stopTakes = 0;
  /** Seconds that a standby takes to become the primary. */
  promotionTakes = 0;
  /** When writes were acknowledged, in milliseconds since 1970. */
  readonly writtenAt: number[] = [];
  #rows = 0;

  constructor(stage: TestEnvironment) {
    this.#stage = stage;
  }

  /** Lets pods of an image be such servers. */
  play(image: string): void {
    this.#stage.cluster!.image(image, {
      run: async ({ pod, container, files, stop, killed }) => {
        const { name, uid } = pod.metadata;
        if (files.get("/topology/topology") === undefined) return this.task(pod, container.name);
        while (!stop.aborted) {
          this.follow(
            name,
            uid!,
            files.get("/topology/topology") ?? "",
            files.get("/etc/database/postgresql.conf") ?? "",
            files.get("/declared/declared.json") ?? "",
          );
          await sleep(this.#stage.clock, 1_000, { signal: stop, background: true }).catch(() => undefined);
        }
        await this.#end(name);
        // A node that is cut off does not end its pods.
        if (this.#running.get(name)?.isolated && !killed.aborted) {
          await new Promise<void>((resolve) => killed.addEventListener("abort", () => resolve(), { once: true }));
        }
        this.ended(name, uid!);
      },
      exec: async ({ pod, command, stdout }) => {
        const [program, script, grant] = command;
        const role = this.roleOf(pod.metadata.name) ?? "";
        if (program === "pg_isready") return role === "primary" || role === "standby" ? 0 : 2;
        if (script?.endsWith("/alive.sh")) return 0;
        if (!script?.endsWith("/status.sh")) return 127;
        const said = this.status(pod.metadata.name, grant);
        if (said === undefined) return 1;
        stdout(said);
        return 0;
      },
    });
  }

  /** A primary that receives SIGTERM stops, its standbys get the rest, and it reports that until it has been queried. */
  async #end(pod: string): Promise<void> {
    const server = this.#running.get(pod);
    if (server?.role !== "primary" || server.isolated || this.#standbysOf(server).length === 0) return;
    server.role = "stopped";
    for (const standby of this.#standbysOf(server)) this.#receive(standby);
    server.asked = false;
    for (let second = 0; second < 10 && !server.asked; second++) {
      await sleep(this.#stage.clock, 1_000, { background: true });
    }
  }

  /** For simulated nodes that run nothing: follows the pods, and the files that they would read. */
  async sync(): Promise<void> {
    const pods = (await this.#stage.list(Pod)).filter(({ metadata }) => metadata.labels?.["app"] === "database");
    for (const [name, { uid }] of [...this.#running]) {
      if (!pods.some(({ metadata }) => metadata.uid === uid)) this.ended(name, uid);
    }
    for (const { metadata, status } of pods) {
      if (status?.phase !== "Running") continue;
      const of = metadata.labels!["database-name"];
      const file = async (map: string, key: string) =>
        (await this.#stage.find(ConfigMap, `${of}-${map}`))?.data?.[key] ?? "";
      const secret = (await this.#stage.find(Secret, `${of}-declared`))?.data?.["declared.json"] ?? "";
      const declared = Buffer.from(secret, "base64").toString();
      const config = await file("config", "postgresql.conf");
      this.follow(metadata.name, metadata.uid!, await file("topology", "topology"), config, declared);
    }
  }

  /** Cuts a pod off from the network, as a partition does. */
  isolate(pod: string): void {
    this.#running.get(pod)!.isolated = true;
  }

  /** The same, but queries of the operator still arrive: only the answers are lost. */
  mute(pod: string): void {
    Object.assign(this.#running.get(pod)!, { isolated: true, mute: true });
  }

  /** A standby receives nothing any more. */
  detach(pod: string): void {
    this.#running.get(pod)!.upstream = "";
  }

  /** The pod of a node that has lost power. */
  ended(name: string, uid: string): void {
    if (this.#running.get(name)?.uid === uid) this.#running.delete(name);
  }

  /** A volume is lost with what is on it. */
  lose(pod: string): void {
    this.#volumes.delete(pod);
  }

  /** What a server has, as far as it is known. */
  rowsOf(pod: string): readonly string[] {
    return this.#volumes.get(pod)?.rows ?? [];
  }

  roleOf(pod: string): string | undefined {
    return this.#running.get(pod)?.role;
  }

  /** What `status.sh` says. A grant extends the lease. */
  status(pod: string, grant?: string): string | undefined {
    const server = this.#running.get(pod);
    if (!server || (server.isolated && !server.mute)) return undefined;
    const [leadsIn, life, moment] = grant?.split(".") ?? [];
    if (life === lifeOf(server)) server.leases.operator = { term: Number(leadsIn), at: Number(moment) };
    if (server.isolated || server.role === "") return undefined;
    const { volume, role, term } = server;
    server.asked = true;
    // A clean shutdown writes one more record, which standbys have received.
    const stopped = role === "stopped" ? 0 : 1;
    const lsn = `0/${(volume.rows.length * 2 + stopped).toString(16).toUpperCase()}`;
    const isStreaming = role === "standby" && this.#leaderOf(server) !== undefined;
    const { confirming } = server;
    return [
      `role=${role}`,
      `term=${term}`,
      `timeline=${volume.timeline}`,
      `lsn=${lsn}`,
      `volumeTerm=${volume.term}`,
      `token=${lifeOf(server)}.${this.#uptime}`,
      ...(server.alone ? [] : [`fencing=${FENCE_SECONDS}`]),
      ...(volume.timeline > 0 ? [`data=${volume.isStandby ? "standby" : "primary"}`] : []),
      `size=${this.size}`,
      `used=${this.used}`,
      `configuration=${createHash("sha256").update(server.config).digest("hex")}`,
      `pendingRestart=${this.#connectionsFor(server) === server.connections ? "" : "max_connections"}`,
      "rejected=",
      ...(server.restarted ? [`restarted=${server.restarted}`] : []),
      ...(role === "standby" ? [`streaming=${isStreaming ? "yes" : "no"}`, "behind=0"] : []),
      ...(role === "primary" && server.source
        ? ["confirming=", `streaming=${this.sources.has(server.source) ? "yes" : "no"}`, "behind=0"]
        : []),
      ...(role === "primary" && !server.source
        ? [
            `confirming=${confirming ? `ANY ${confirming.required} (${confirming.names.map((one) => `"${one}"`).join(",")})` : ""}`,
            `password=${this.password}`,
            ...this.archive,
            ...this.#declaredLines(server),
            ...(server.checkpoint ? [`checkpoint=${server.checkpoint}`] : []),
          ]
        : []),
      "",
    ].join("\n");
  }

  /** What a primary reports of declared roles and databases. */
  #declaredLines({ declared }: Server): string[] {
    if (!declared) return [];
    const problems = this.impossible.map(({ kind, name }) => ({ kind, name, message: `${name} cannot be done` }));
    return [
      `declared=${createHash("sha256").update(declared).digest("hex")}`,
      `declaredProblems=${JSON.stringify(problems)}`,
    ];
  }

  /** The roles and databases that the primary has. */
  get declared(): string {
    return [...this.#running.values()].find(({ role }) => role === "primary")?.declared ?? "";
  }

  /** One second of a server's life. */
  follow(pod: string, uid: string, text: string, config: string, declared = ""): void {
    const server = this.#serverOf(pod, uid);
    if (!server.isolated) Object.assign(server, { config, declared });
    const order = parsedOrder(text);
    if (order && !server.isolated) {
      if (order.term >= server.volume.term) this.#obey(server, order);
      else if (server.role === "") Object.assign(server, { role: "waiting", term: order.term });
    }
    if (server.role === "standby") this.#receive(server);
    if (server.role === "primary" && server.source) server.volume.rows = [...(this.sources.get(server.source) ?? [])];
    else if (server.role === "primary") this.#live(server);
    this.#check();
  }

  /** One second of a primary that takes writes. */
  #live(server: Server): void {
    this.#fence(server);
    if (server.role === "primary") this.#write(server);
  }

  get #uptime(): number {
    return Math.floor(this.#stage.clock.monotonic() / 1000);
  }

  /** A primary that has had no contact for too long stops. */
  #fence(server: Server): void {
    const { leases, term } = server;
    if (server.alone || this.#standbysOf(server).length > 0) leases.standbys = { term, at: this.#uptime };
    if (this.#uptime - Math.max(leases.operator.at, leases.standbys.at) >= FENCE_SECONDS) server.role = "fenced";
  }

  /** Whether a server can start as the primary, or be promoted. */
  #isLeased({ leases, alone }: Server, term: number): boolean {
    const lasts = (lease: Lease) => lease.term === term && this.#uptime - lease.at < FENCE_SECONDS;
    return alone || lasts(leases.operator) || lasts(leases.standbys);
  }

  #serverOf(pod: string, uid: string): Server {
    const known = this.#running.get(pod);
    if (known?.uid === uid) return known;
    const volume = this.#volumes.get(pod) ?? { ...EMPTY, rows: [] };
    this.#volumes.set(pod, volume);
    const server: Server = {
      pod,
      uid,
      volume,
      role: "",
      term: 0,
      upstream: "",
      confirming: undefined,
      isolated: false,
      mute: false,
      alone: false,
      leases: { operator: NEVER, standbys: NEVER },
      checkpoint: "",
      stopsIn: undefined,
      promotedIn: undefined,
      config: "",
      source: "",
      declared: "",
      connections: 0,
      restarted: "",
      asked: false,
    };
    this.#running.set(pod, server);
    return server;
  }

  /** How many connections a server would have if it started now: a standby never fewer than its primary. */
  #connectionsFor({ config, volume }: Server): number {
    const wanted = Number(/^max_connections = '(\d+)'$/m.exec(config)?.[1]);
    return volume.isStandby ? Math.max(wanted, volume.connections) : wanted;
  }

  /** Starts a server in its pod, or starts it again if that is its order. */
  #start(server: Server, { restart, term }: Order): boolean {
    const [pod, number = ""] = restart.split(" ");
    const isOrdered = pod === server.pod && number !== server.restarted && server.term === term;
    if (server.role !== "" && !isOrdered) return false;
    if (server.role === "primary" && server.checkpoint !== number) return false;
    if (isOrdered) {
      server.restarted = number;
      this.restarts.push(server.pod);
    }
    server.connections = this.#connectionsFor(server);
    if (!server.volume.isStandby) server.volume.connections = server.connections;
    return isOrdered;
  }

  #obey(server: Server, order: Order): void {
    const { term, primary, upstream, members, synchronous, fresh, checkpoint } = order;
    const { volume, pod } = server;
    if (order.fenced.includes(pod)) {
      Object.assign(server, { role: "halted", upstream: "", term });
      return;
    }
    if (this.#start(server, order)) {
      server.role = "restarting";
      return;
    }
    if (server.role === "primary" && primary !== pod && upstream === pod) server.stopsIn ??= this.stopTakes;
    if (server.stopsIn !== undefined && server.stopsIn > 0) {
      // While it stops it reads no other topology.
      server.stopsIn--;
      if (server.role === "primary") server.term = volume.term = term;
      server.role = "stopping";
      return;
    }
    volume.term = term;
    server.upstream = upstream;
    server.alone = members.length < 2;
    server.source = primary === pod ? order.source : "";
    if (server.source) {
      volume.isStandby = true;
      volume.timeline ||= 1;
      Object.assign(server, { role: "primary", checkpoint, confirming: undefined });
    } else if (primary === pod) {
      if (volume.timeline === 0 && !fresh) {
        server.role = "empty";
        return;
      }
      if ((server.role !== "primary" || volume.isStandby) && !this.#isLeased(server, term)) {
        Object.assign(server, { role: server.role === "fenced" ? "fenced" : "waiting", term });
        return;
      }
      if (volume.timeline === 0) {
        volume.timeline = 1;
      } else if (volume.isStandby) {
        server.promotedIn ??= this.promotionTakes;
        if (server.promotedIn-- > 0) return;
        server.promotedIn = undefined;
        volume.timeline++;
        volume.isStandby = false;
      } else if (server.role !== "primary" && this.#isOvertaken(server)) {
        server.role = "overtaken";
        return;
      }
      server.role = "primary";
      server.checkpoint = checkpoint;
      server.stopsIn = undefined;
      server.confirming =
        synchronous > 0 ? { required: synchronous, names: members.filter((name) => name !== pod) } : undefined;
    } else if (primary !== "" && volume.followed !== term) {
      const leader = this.#running.get(primary);
      if (leader?.role !== "primary" || leader.isolated) {
        server.role = "waiting";
        return;
      }
      // Rewound, or copied: rows that the primary does not have are lost.
      volume.rows = [...leader.volume.rows];
      volume.timeline = leader.volume.timeline;
      volume.connections = leader.volume.connections;
      volume.isStandby = true;
      server.connections = this.#connectionsFor(server);
      volume.followed = term;
      server.role = "standby";
    } else {
      server.role = volume.timeline === 0 ? "empty" : volume.isStandby ? "standby" : "stopped";
      // Who hands over sends all it has before it ends.
      if (server.role === "stopped" && upstream === pod) for (const one of this.#standbysOf(server)) this.#receive(one);
    }
    server.term = term;
  }

  #isOvertaken({ volume }: Server): boolean {
    return [...this.#running.values()].some((other) => !other.isolated && other.volume.timeline > volume.timeline);
  }

  /** The server that a standby receives from, even one that is cut off from the operator, until the standby detaches. */
  #leaderOf({ upstream, volume }: Server): Server | undefined {
    const leader = this.#running.get(upstream);
    return leader?.role === "primary" && leader.volume.timeline === volume.timeline ? leader : undefined;
  }

  #standbysOf({ pod }: Server): Server[] {
    return [...this.#running.values()].filter(({ role, upstream }) => role === "standby" && upstream === pod);
  }

  #receive(server: Server): void {
    const leader = this.#running.get(server.upstream);
    if (!leader || leader.volume.timeline !== server.volume.timeline) return;
    if (leader.role !== "primary" && leader.role !== "stopped") return;
    server.volume.rows = [...leader.volume.rows];
    server.volume.connections = leader.volume.connections;
    if (server.connections < leader.volume.connections) this.wrongs.push(`${server.pod} cannot replay any more`);
  }

  /** A client writes a row. It is acknowledged if enough standbys have it. */
  #write(server: Server): void {
    const row = `${server.pod} ${++this.#rows}`;
    server.volume.rows.push(row);
    const { confirming } = server;
    if (confirming) {
      const able = this.#standbysOf(server).filter(({ pod }) => confirming.names.includes(pod));
      if (able.length < confirming.required) {
        server.volume.rows.pop();
        return;
      }
      for (const standby of able.slice(0, confirming.required)) this.#receive(standby);
    }
    this.acknowledged.push(row);
    this.writtenAt.push(this.#stage.clock.now());
  }

  #check(): void {
    const writing = [...this.#running.values()].filter((server) => {
      if (server.role !== "primary" || server.source) return false;
      const { confirming } = server;
      const able = this.#standbysOf(server).filter(({ pod }) => confirming?.names.includes(pod));
      return !confirming || able.length >= confirming.required;
    });
    if (writing.length > 1) this.wrongs.push(`${writing.map(({ pod }) => pod).join(" and ")} acknowledge writes`);
  }

  /** The server that leads has all acknowledged rows. */
  nothingLost(primary: string): void {
    const rows = new Set(this.rowsOf(primary));
    const lost = this.acknowledged.filter((row) => !rows.has(row));
    assert.deepEqual(lost, [], `${primary} lacks rows that were acknowledged`);
  }
}

/** The container that a token is of, as a number that the operator does not read. */
const lifeOf = ({ uid }: Server) => createHash("sha256").update(uid).digest("hex").slice(0, 32);
