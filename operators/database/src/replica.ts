/**
 * A Database that follows another one: its primary is a standby of the source, and its standbys receive from that primary
 * (`scripts/server-replica.sh`). No server takes writes, so that any of them can be the one that receives from the source, and nothing
 * has to be fenced when it changes: {@link followingStep}.
 *
 * Whether a Database follows is part of its topology, and changes with a term: {@link withSource}. A server that is promoted needs a
 * lease of that term like any other primary.
 */
import { type Conditions, conditionFalse, conditionTrue } from "konverge";
import type { Secret } from "konverge/kinds";
import type { Database } from "./database.ts";
import { isServing, type Member, type Step } from "./leadership.ts";
import { followedBy, isReplica, sourceOf } from "./replica-source.ts";
import { lsnText, parseLsn, type ServerReport } from "./server-report.ts";
import type { Topology } from "./topology.ts";

/** The condition of a Database that follows another one. */
export const FOLLOWING = "Following";

const SOON = 1_000;

/** The Secret whose passwords the servers have, while they are copies of another Database's. */
export function sourceSecret(
  database: Database,
  { follows }: Topology,
  secretOf: (name: string) => Secret | undefined,
): Secret | undefined {
  const source = follows ? sourceOf(database) : undefined;
  return source && secretOf(source.secretName);
}

/** The server that receives from the source. */
export const receiver = ({ primary }: Topology, members: readonly Member[]): ServerReport | undefined =>
  members.find(({ name }) => name === primary)?.report;

/** Begins or ends following the source, in a new term. Not during a change of the primary, which ends as it began. */
export function withSource(database: Database, topology: Topology, members: readonly Member[]): Topology {
  const { operation, adopting, follows, ...rest } = topology;
  const next = followedBy(database);
  if (operation || adopting || topology.primary === "" || follows === next.follows) return topology;
  // Another address of the source: servers go on with it.
  if (follows !== undefined && next.follows !== undefined) return { ...topology, ...next };
  if (whyNotPromoted(database, topology, members) !== undefined) return topology;
  const { prepared: _, restart: __, ...kept } = rest;
  return { ...kept, term: topology.term + 1, ...next };
}

/** Why a Database that is to be promoted is not yet. */
export function whyNotPromoted(database: Database, topology: Topology, members: readonly Member[]): string | undefined {
  if (topology.follows === undefined || isReplica(database)) return undefined;
  const { role, lsn } = receiver(topology, members) ?? {};
  if (role !== "primary" || lsn === undefined) return `${topology.primary} does not report yet what it has received`;
  const promoteAt = parseLsn(database.spec.replica?.promoteAt);
  if (promoteAt === undefined || lsn > promoteAt) return undefined;
  return `it is promoted when it has received more than ${lsnText(promoteAt)}: it has ${lsnText(lsn)}`;
}

/** What a decision about a Database that follows another one is based on. */
export interface Following {
  readonly topology: Topology;
  readonly members: readonly Member[];
  /** Milliseconds. */
  readonly delay: number;
  /** The pod that should receive from the source, if another is requested. */
  readonly switchoverTo: string | undefined;
  readonly lostSince: number | undefined;
  readonly now: number;
}

/**
 * Which server receives from the source. Another takes its place at once when that is requested, and after the delay when the pod is
 * gone or its server does not report: one that copies the source for hours reports that.
 */
export function followingStep({ topology, members, delay, switchoverTo, lostSince, now }: Following): Step {
  const present = members.find(({ name }) => name === topology.primary);
  const isThere =
    present?.pod !== undefined && !present.pod.ending && (present.report !== undefined || isServing(present));
  const { fresh, ...rest } = topology;
  const known: Topology = { ...rest, fresh: fresh && present?.report?.role !== "primary" };
  const heirs = members.filter((one) => one !== present && one.report?.role === "standby" && isServing(one));
  if (switchoverTo !== undefined && switchoverTo !== topology.primary) {
    const heir = heirs.find(({ name }) => name === switchoverTo);
    if (heir) return { ...replacedBy(heir, topology), switched: switchoverTo };
    const problem = {
      reason: "SwitchoverWaits",
      message: `${switchoverTo} is no standby that reports: it cannot replace ${topology.primary}`,
    };
    return { topology: known, problem, after: 10_000 };
  }
  const switched = switchoverTo === undefined ? {} : { switched: switchoverTo };
  if (isThere) return { topology: known, ...switched };
  const since = lostSince ?? now;
  const [heir] = heirs.sort((a, b) => Number((b.report?.lsn ?? 0n) - (a.report?.lsn ?? 0n)));
  const left = present?.pod?.ending && heir ? 0 : since + delay - now;
  if (left > 0) return { topology: known, lostSince: since, after: left };
  if (heir) return replacedBy(heir, topology);
  const message = `${topology.primary}, which receives from the source, does not report, and there is no standby to replace it`;
  return { topology: known, lostSince: since, problem: { reason: "NoCandidate", message }, after: 10_000 };
}

function replacedBy({ name }: Member, { term, primary, follows = "" }: Topology): Step {
  return {
    topology: { term: term + 1, primary: name, upstream: name, fresh: false, follows },
    event: {
      type: "normal",
      reason: "ReceiverReplaced",
      message: `${name} receives from the source in place of ${primary}`,
    },
    after: SOON,
  };
}

type Status = NonNullable<NonNullable<Database["status"]>["replica"]>;

/** What the status reports; what is not known now stays as last reported. */
export function replicaStatusOf(
  database: Database,
  topology: Topology,
  members: readonly Member[],
): Status | undefined {
  const source = sourceOf(database);
  if (!source || !topology.follows) return undefined;
  const report = receiver(topology, members);
  const { receivedLSN, demotedAt } = database.status?.replica ?? {};
  const received = report?.lsn === undefined ? receivedLSN : lsnText(report.lsn);
  const demoted = members.flatMap(({ report: one }) => one?.demoted ?? []);
  const [ended = demotedAt] = demoted;
  return {
    source: `${source.host}:${source.port}`,
    ...(received !== undefined && { receivedLSN: received }),
    ...(ended !== undefined && { demotedAt: ended }),
  };
}

/** Whether a Database receives from its source, and why not. */
export function followingCondition(
  database: Database,
  topology: Topology,
  members: readonly Member[],
  hasSecret: boolean,
): Conditions {
  const source = sourceOf(database);
  if (!source || topology.follows === undefined) return { [FOLLOWING]: undefined };
  const waits = whyNotPromoted(database, topology, members);
  if (waits) return { [FOLLOWING]: conditionTrue("PromotionWaits", waits) };
  const report = receiver(topology, members);
  const place = `${source.host}:${source.port}`;
  if (!hasSecret)
    return {
      [FOLLOWING]: conditionFalse(
        "SecretMissing",
        `there is no Secret ${source.secretName} with password, replication-password and monitor-password: copy the Secret <name>-credentials of the source`,
      ),
    };
  if (report?.role === "foreign")
    return {
      [FOLLOWING]: conditionFalse(
        "ForeignData",
        `the data of ${topology.primary} are not of the system of ${place}, and stay as they are: correct spec.replica, or create another Database`,
      ),
    };
  if (report?.role === "primary" && report.streaming)
    return { [FOLLOWING]: conditionTrue("Streaming", `it receives from ${place}`) };
  if (report?.role === "joining")
    return { [FOLLOWING]: conditionFalse("Copying", `${topology.primary} becomes a copy of ${place}`) };
  return {
    [FOLLOWING]: conditionFalse("NotStreaming", `${topology.primary} does not receive from ${place}: see its log`),
  };
}
