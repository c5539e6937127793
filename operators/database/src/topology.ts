import { ConfigMap } from "konverge/kinds";
import type { Database } from "./database.ts";
import { metadataOf, podName, podsServiceName, topologyName } from "./names.ts";
import { followedBy } from "./replica-source.ts";

/** A change of the primary that is in progress. No server accepts writes until it ends. */
export interface Operation {
  /** `switchover`: the primary hands over in order. `failover`: it is lost, or assumed to be. */
  readonly kind: "switchover" | "failover";
  /** The pod that led. */
  readonly from: string;
  /** The pod that should be the primary, if that is known from the start. */
  readonly to?: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  /**
   * The UID of the old primary's pod when writes were stopped, or "" if there was none. That pod must be deleted, or have
   * reported that it has stopped: any later pod of that name has never read an older topology.
   */
  readonly fence?: string;
  /** The LSN at which the old primary shut down cleanly: its pod is being deleted. */
  readonly ended?: string;
  /** When the old primary was first observed to have stopped, in milliseconds since 1970. */
  readonly stopped?: number;
}

/** Which server leads. Every change has a new term. */
export interface Topology {
  readonly term: number;
  /** The pod that accepts writes, or "" while none does. */
  readonly primary: string;
  /** The pod that standbys receive from, or "" while they must receive nothing. */
  readonly upstream: string;
  /** No server has ever been up: an empty volume may become a new database. */
  readonly fresh: boolean;
  /** All servers are stopped for a restore: when they start again, the primary's data are other ones. */
  readonly held?: boolean;
  /** The primary is about to hand over to this pod: first it makes a checkpoint, so that its stop takes little time. */
  readonly prepared?: { readonly to: string; readonly since: number };
  /** The server that restarts for parameters that a reload does not change, and since when. */
  readonly restart?: { readonly name: string; readonly since: number };
  /** The number of abandoned switchovers since the last successful one, and the time of the latest. */
  readonly givenUp?: { readonly count: number; readonly at: number };
  readonly operation?: Operation;
  /** Where the Database is that this one follows: the primary is a standby of that one, and no server takes writes. */
  readonly follows?: string;
  /** Volumes of an earlier Database exist, and it is not known yet what they hold: no server may start. */
  readonly adopting?: boolean;
}

/** Where a new database begins. */
export function firstTopology(database: Database): Topology {
  const primary = podName(database);
  return { term: 1, primary, upstream: primary, fresh: true, ...followedBy(database) };
}

/** Where a database begins whose volumes exist already: in a term that none of their servers obeys. */
export function adoptingTopology(): Topology {
  return { term: 0, primary: "", upstream: "", fresh: false, adopting: true };
}

/**
 * The topology as servers read it and as the operator remembers it. `instances` are all that may have data; of these,
 * `synchronous` must confirm each commit.
 */
export function topologyFor(
  database: Database,
  topology: Topology,
  servers: { instances: number; synchronous: number; port: number; fenced?: readonly string[] },
) {
  const members = Array.from({ length: servers.instances }, (_, index) => {
    const name = podName(database, index);
    return `${name}=${name}.${podsServiceName(database)}:${servers.port}`;
  });
  const { term, primary, upstream, fresh, prepared, restart } = topology;
  const checkpoint = prepared?.since ?? (restart?.name === primary ? restart.since : "");
  return ConfigMap.draft({
    metadata: metadataOf(database, topologyName(database)),
    data: {
      topology: [
        `term=${term}`,
        `primary=${primary}`,
        `upstream=${upstream}`,
        `members='${members.join(" ")}'`,
        `synchronous=${servers.synchronous}`,
        `fresh=${fresh ? "yes" : "no"}`,
        `checkpoint=${checkpoint}`,
        `fenced='${(servers.fenced ?? []).join(" ")}'`,
        `source='${topology.follows ?? ""}'`,
        `restart='${restart ? `${restart.name} ${restart.since}` : ""}'`,
        "",
      ].join("\n"),
      record: JSON.stringify(topology),
    },
  });
}

/**
 * What is known of the topology: the ConfigMap and the status both remember it, and are written one after the other. The
 * later term counts, so that neither the loss of one of them nor a crash between the two writes is a step back. Without either,
 * it depends on whether there are volumes.
 */
export function knownTopology(database: Database, configMap: ConfigMap | undefined, volumes: number): Topology {
  const written = parsed(configMap?.data?.["record"]);
  const reported = parsed(database.status?.topology);
  if (written && reported) return reported.term > written.term ? reported : written;
  return written ?? reported ?? (volumes > 0 ? adoptingTopology() : firstTopology(database));
}

function parsed(text: string | undefined): Topology | undefined {
  if (text === undefined) return undefined;
  try {
    const value = JSON.parse(text) as Partial<Topology>;
    const isWhole =
      Number.isSafeInteger(value.term) && typeof value.primary === "string" && typeof value.upstream === "string";
    return isWhole ? (value as Topology) : undefined;
  } catch {
    // It was edited by hand.
    return undefined;
  }
}

/**
 * The topology while all servers are stopped for a restore, and after it. What they find then is a new term: standbys copy
 * what the primary has become.
 */
export function heldTopology(topology: Topology, isHeld: boolean): Topology {
  if (isHeld === (topology.held ?? false)) return topology;
  const { held: _, ...rest } = topology;
  return isHeld ? { ...rest, held: true } : { ...rest, term: topology.term + 1 };
}
