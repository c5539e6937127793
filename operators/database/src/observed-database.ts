import type { ReconcileContext } from "konverge";
import { ConfigMap, PersistentVolumeClaim, Secret, StatefulSet } from "konverge/kinds";
import { countOfVolumes } from "./adoption.ts";
import type { Database } from "./database.ts";
import type { Findings } from "./database-status.ts";
import { type Engine, engineOf } from "./engines.ts";
import { fencedServers } from "./fence.ts";
import { indexOf } from "./leader-decision.ts";
import type { Member } from "./leadership.ts";
import type { Leases } from "./leases.ts";
import { secretName, topologyName } from "./names.ts";
import { heldForRestore } from "./restore-hold.ts";
import type { AskServer, ServerReport } from "./server-report.ts";
import { askServers, outdatedPods } from "./servers.ts";
import { knownTopology, type Topology } from "./topology.ts";
import { UPGRADING } from "./version.ts";

/** What is observed of a Database before anything is decided about it. */
export interface ObservedDatabase {
  readonly engine: Engine;
  /** Why servers are stopped, if they are meant to be. */
  readonly stopped: Findings["stopped"];
  readonly servers: StatefulSet | undefined;
  /** The topology that the servers were given. */
  readonly written: Topology;
  /** The number of servers. */
  readonly count: number;
  readonly members: readonly Member[];
  /** Servers are asked how they are doing; otherwise only their pods are known. */
  readonly isAsked: boolean;
  /** The names of pods of an older revision. */
  readonly outdated: ReadonlySet<string>;
  /** The names of servers that the user has fenced. */
  readonly fenced: readonly string[];
  readonly credentials: Secret | undefined;
}

export async function observeDatabase(
  database: Database,
  { ask, leases }: { readonly ask: AskServer; readonly leases: Leases },
  context: ReconcileContext,
): Promise<ObservedDatabase> {
  const { observed, cache } = context;
  const { spec, metadata } = database;
  const engine = engineOf(database);
  const isPostgres = engine.name === "postgres";
  const volumes = isPostgres ? countOfVolumes(database, cache.list(PersistentVolumeClaim, metadata.namespace)) : 0;
  const written = knownTopology(database, observed(ConfigMap, topologyName(database)), volumes);
  const stopped = whyStopped(database);
  const servers = observed(StatefulSet, metadata.name);
  // The server that leads is kept until another one leads.
  const leader = indexOf(written.primary || written.upstream) + 1;
  const count = Math.max(spec.instances, leader, written.adopting ? volumes : 0);
  const credentials = cache.get(Secret, `${metadata.namespace}/${secretName(database)}`);
  const isAsked = isPostgres && !stopped;
  const members = await askServers(database, written, count, { ask: isAsked ? ask : undefined, leases }, context);
  const outdated = outdatedPods(database, servers, context);
  const names = members.map(({ name }) => name);
  const fenced = fencedServers(database, names);
  return { engine, stopped, servers, written, count, members, isAsked, outdated, fenced, credentials };
}

/** What the server that leads has reported. */
export function leadingReport(members: readonly Member[]): ServerReport | undefined {
  return members.find(({ report }) => report?.role === "primary")?.report;
}

function whyStopped(database: Database): Findings["stopped"] {
  const message = heldForRestore(database);
  const isUpgrade = database.metadata.annotations?.[UPGRADING] !== undefined;
  if (message !== undefined) return { reason: isUpgrade ? "Upgrading" : "Restoring", message };
  return database.spec.hibernated
    ? { reason: "Hibernated", message: "the server is stopped, its data are kept" }
    : undefined;
}
