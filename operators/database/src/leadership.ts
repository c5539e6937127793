/**
 * Which server leads, as a pure function of the observed state: {@link nextStep}.
 *
 * Guarantees
 * - A pod becomes the primary only when the previous one can no longer acknowledge writes: its pod is deleted, or it has
 *   reported that it has stopped, or enough standbys are detached from it that no commit can be confirmed, or it has fenced
 *   itself because neither the operator nor any standby has been in contact with it for long enough.
 * - Every change goes through a term in which no server accepts writes. If the operator stops in between, the next process
 *   finds that term stored and continues from it.
 * - Unless data loss is allowed, a failover happens only when a standby is known to have everything that was acknowledged.
 *
 * Assumptions
 * - A deleted pod does not run: a user who deletes a pod by force, or a Node, has made sure of that.
 * - A new pod reads the topology as it is when it starts.
 * - Clients do not switch `synchronous_commit` off for what they want to keep.
 */

import { type Confirming, canStandForAll } from "./quorum.ts";
import { hasStoppedItself } from "./self-fencing.ts";
import { answersQueries, lsnText, parseLsn, type ServerReport } from "./server-report.ts";
import type { Operation, Topology } from "./topology.ts";

/** The observed state of a server. */
export interface Member {
  readonly name: string;
  readonly pod:
    | {
        readonly uid: string;
        readonly ready: boolean;
        /** When it stopped being ready, or was created, in milliseconds since 1970. */
        readonly unreadySince?: number | undefined;
        /** It is being deleted. */
        readonly ending: boolean;
        /** Its containers have ended for good, as its node says. */
        readonly dead: boolean;
        readonly node: string | undefined;
      }
    | undefined;
  readonly report: ServerReport | undefined;
}

/** The inputs of a decision. */
export interface Situation {
  readonly topology: Topology;
  readonly members: readonly Member[];
  /** What standbys must confirm a commit: as the primary last said, and as it is asked for. */
  readonly confirming: readonly (Confirming | undefined)[];
  /** Milliseconds. */
  readonly delay: number;
  readonly allowDataLoss: boolean;
  /** The pod that should be the primary, if another is requested. */
  readonly switchoverTo: string | undefined;
  /** When the primary was first observed to be missing. */
  readonly lostSince: number | undefined;
  readonly now: number;
  /** The uid of the pod that has reported self-fencing, and the seconds without contact after which it stops. */
  readonly selfFencing?: { readonly pod: string; readonly afterSeconds: number } | undefined;
  /** Milliseconds for which nothing has been in contact with the server that led ({@link isForsaken}). */
  readonly forsakenFor?: number | undefined;
}

/** What to do now. */
export interface Step {
  readonly topology: Topology;
  /** A pod to delete, so that it cannot write any more. */
  readonly remove?: { readonly name: string; readonly uid: string };
  readonly lostSince?: number;
  readonly event?: { readonly type: "normal" | "warning"; readonly reason: string; readonly message: string };
  /** Why there is no primary, or why another cannot take its place. */
  readonly problem?: { readonly reason: string; readonly message: string };
  /** The requested switchover has ended, successfully or not. */
  readonly switched?: string;
  /** When to decide again, in milliseconds. */
  readonly after?: number;
}

/** How long standbys have to detach from an old primary, a primary to begin to stop, and the next one to catch up. */
const PATIENCE = 60_000;
/** How long a primary can take to stop once it has begun: it could not lead again any sooner. `server.sh` forces it earlier. */
const STOPPING = 6 * 60_000;
/** How long a primary that is about to hand over has for its checkpoint. */
const CHECKPOINT = 2 * 60_000;
const SOON = 1_000;

/** The delay after an abandoned switchover, in milliseconds: a minute, doubled with each, at most half an hour. */
function backOff({ count }: NonNullable<Topology["givenUp"]>): number {
  return Math.min(30 * 60_000, 60_000 * 2 ** (count - 1));
}

/**
 * Whether a member's server runs, as far as is known. What it answers counts before its pod's readiness: that includes all
 * other containers of the pod, such as an exporter that crashes.
 */
export function isServing({ pod, report }: Member): boolean {
  return pod !== undefined && !pod.ending && (pod.ready || answersQueries(report));
}

/** The next step. */
export function nextStep(situation: Situation): Step {
  const { operation } = situation.topology;
  if (!operation) return steady(situation);
  return operation.kind === "switchover" ? handOver(situation, operation) : failOver(situation, operation);
}

function steady(situation: Situation): Step {
  const { topology, members, switchoverTo, now, delay } = situation;
  const primary = members.find(({ name }) => name === topology.primary);
  // Until the first server has made its data, it needs to read that it may, however ready its pod is.
  const isBeginning = topology.fresh && primary?.report !== undefined && !answersQueries(primary.report);
  if (primary && isServing(primary) && !isBeginning) {
    const { prepared, ...settled } = { ...topology, fresh: false };
    if (switchoverTo === undefined) return { topology: topology.fresh || prepared ? settled : topology };
    return beginSwitchover(
      { ...situation, topology: { ...settled, ...(prepared && { prepared }) } },
      primary,
      switchoverTo,
    );
  }
  const lostSince = situation.lostSince ?? now;
  if (topology.fresh || members.length < 2) return { topology, lostSince };
  const ends = primary?.pod?.ending ? replaceEnding(situation, primary, lostSince) : undefined;
  if (ends) return ends;
  const left = lostSince + delay - now;
  if (left > 0) return { topology, lostSince, after: left };
  const standbys = answering(situation);
  const problem = obstacle(situation, standbys);
  if (problem) return { topology, lostSince, problem, after: 10_000 };
  const operation: Operation = { kind: "failover", from: topology.primary, since: now };
  return {
    topology: { term: topology.term + 1, primary: "", upstream: "", fresh: false, operation },
    lostSince,
    event: {
      type: "warning",
      reason: "FailoverBegins",
      message: `${topology.primary} is unavailable: no server accepts writes until a standby is promoted`,
    },
    after: SOON,
  };
}

/**
 * The primary's pod is being deleted, by a drain for example. Its server stops in good order and reports where, before the pod
 * ends; standbys receive all of that. Undefined if that cannot be waited for.
 */
function replaceEnding(situation: Situation, { report }: Member, lostSince: number): Step | undefined {
  const { topology, confirming, now } = situation;
  if (!report || report.term < topology.term) return undefined;
  const standbys = answering(situation).sort(furthestFirst);
  const [heir] = standbys;
  if (!heir) return undefined;
  const from = topology.primary;
  if (report.role === "stopped" && report.lsn !== undefined) {
    const ended = lsnText(report.lsn);
    const operation: Operation = { kind: "switchover", from, to: heir.name, since: now, ended };
    return {
      topology: { term: topology.term + 1, primary: "", upstream: from, fresh: false, operation },
      lostSince,
      event: { type: "normal", reason: "SwitchoverBegins", message: `${from} ends: it hands over to ${heir.name}` },
      after: SOON,
    };
  }
  const isStopping = report.role === "primary" || report.role === "stopping";
  // Standbys that confirm have everything that was acknowledged: they need not wait for long.
  const patience = isLossless(confirming, standbys) ? situation.delay : STOPPING;
  if (!isStopping || now - lostSince > patience) return undefined;
  const message = `the pod of ${from} is being deleted: a standby replaces it when its server has stopped`;
  return { topology, lostSince, problem: { reason: "SwitchingOver", message }, after: SOON };
}

/** What stands in the way of a failover to one of these, if anything. */
function obstacle({ allowDataLoss, confirming, topology }: Situation, standbys: readonly Member[]) {
  if (standbys.length === 0) {
    return {
      reason: "NoCandidate",
      message: `${topology.primary} is unavailable, and no standby reports its WAL position: none is promoted`,
    };
  }
  if (allowDataLoss || isLossless(confirming, standbys)) return undefined;
  return {
    reason: "FailoverBlocked",
    message:
      `${topology.primary} is unavailable, and no standby is known to have every acknowledged commit: bring it back, or set ` +
      "spec.failover.allowDataLoss to continue without the last commits",
  };
}

function isLossless(confirming: readonly (Confirming | undefined)[], standbys: readonly Member[]): boolean {
  const names = standbys.map(({ name }) => name);
  return confirming.length > 0 && confirming.every((one) => one !== undefined && canStandForAll(one, names));
}

/** Standbys that say how far they have come. */
function answering({ topology, members }: Situation): Member[] {
  const old = topology.operation?.from ?? topology.primary;
  return members.filter(({ name, report }) => name !== old && report?.role === "standby" && report.lsn !== undefined);
}

/** Whether a server has carried out the present topology and does not write. */
function hasStepped({ report }: Member, { term }: Topology): boolean {
  return report !== undefined && report.term >= term && report.role !== "primary" && report.role !== "stopping";
}

/**
 * Whether nothing is in contact with the server that led: the operator has stopped to extend its lease in this term, and no other
 * member can receive from it. One that does not report may be on its side of a partition.
 */
export function isForsaken({ topology, members }: Pick<Situation, "topology" | "members">): boolean {
  const { operation } = topology;
  if (operation?.kind !== "failover" || operation.fence === undefined) return false;
  return members.filter(({ name }) => name !== operation.from).every((one) => isDetached(one, topology));
}

function isDetached(member: Member, topology: Topology): boolean {
  const { pod, report } = member;
  // A server that has not started reads the current topology when it does.
  if (!pod || pod.dead || pod.node === undefined) return true;
  return hasStepped(member, topology) && ["standby", "stopped", "empty"].includes(report?.role ?? "");
}

/** Whether the old primary has fenced itself, or how long that takes at most. */
function selfFence({ selfFencing, forsakenFor, topology, members }: Situation, { fence }: Operation) {
  if (!selfFencing || selfFencing.pod !== fence) return { isOver: false, message: undefined };
  const { afterSeconds } = selfFencing;
  if (hasStoppedItself(afterSeconds, forsakenFor)) return { isOver: true, message: undefined };
  const attached = members.filter((one) => one.name !== topology.operation?.from && !isDetached(one, topology));
  const names = attached.map(({ name }) => name).join(", ");
  const message =
    forsakenFor === undefined
      ? `it stops by itself only without contact to standbys, and ${names} did not report that it no longer receives from it`
      : `it stops by itself ${afterSeconds} seconds after its last contact with the operator and its standbys`;
  return { isOver: false, message };
}

function failOver(situation: Situation, operation: Operation): Step {
  const { topology, members, confirming, allowDataLoss, now } = situation;
  const old = members.find(({ name }) => name === operation.from);
  const lostSince = situation.lostSince ?? now;
  // Stored before any decision depends on it.
  if (operation.fence === undefined) {
    const fence = old?.pod?.uid ?? "";
    return { topology: { ...topology, operation: { ...operation, fence } }, lostSince, after: SOON };
  }
  const { pod } = old ?? {};
  const selfFenced = selfFence(situation, operation);
  const isDeleted = !pod || pod.uid !== operation.fence || pod.dead;
  const isFenced = isDeleted || selfFenced.isOver || (old !== undefined && hasStepped(old, topology));
  const remove = pod && pod.uid === operation.fence && !pod.ending ? { name: operation.from, uid: pod.uid } : undefined;
  const detached = answering(situation).filter((standby) => hasStepped(standby, topology));
  const isSafe = isLossless(confirming, detached);
  const isLate = now - operation.since > PATIENCE;
  const awaited = members.some((one) => one.name !== operation.from && isServing(one) && !detached.includes(one));
  const [best] = detached.sort(furthestFirst);
  if (best && (isSafe || (isFenced && allowDataLoss)) && (!awaited || isLate)) {
    const message = `${best.name} replaces ${operation.from}, at ${lsnText(best.report!.lsn!)}`;
    return {
      topology: { term: topology.term + 1, primary: best.name, upstream: best.name, fresh: false },
      ...(remove && { remove }),
      event: { type: "warning", reason: "FailedOver", message },
      after: SOON,
    };
  }
  // Who was fenced and may not be replaced is still the one that has everything.
  if (isLate && isFenced && !isSafe && !(allowDataLoss && best)) {
    return {
      topology: { term: topology.term + 1, primary: operation.from, upstream: operation.from, fresh: false },
      event: {
        type: "warning",
        reason: "FailoverGivenUp",
        message: `no standby can replace ${operation.from}: it becomes the primary again when it is back`,
      },
      lostSince: now,
    };
  }
  const problem = isFenced
    ? { reason: "FailingOver", message: `a standby is about to replace ${operation.from}` }
    : {
        reason: "FencingPending",
        message:
          `${operation.from} is not known to have stopped: ${selfFenced.message ? `${selfFenced.message}. If` : "if"} its node ${pod?.node ?? ""} ` +
          "is down for good, delete the Node or taint it node.kubernetes.io/out-of-service",
      };
  return { topology, ...(remove && { remove }), lostSince, problem, after: SOON };
}

function furthestFirst(a: Member, b: Member): number {
  const [left, right] = [a.report!, b.report!];
  if (left.timeline !== right.timeline) return (right.timeline ?? 0) - (left.timeline ?? 0);
  if (left.lsn !== right.lsn) return right.lsn! > left.lsn! ? 1 : -1;
  return a.name < b.name ? -1 : 1;
}

function beginSwitchover({ topology, members, now }: Situation, primary: Member, to: string): Step {
  if (to === topology.primary) return { topology, switched: to };
  const next = members.find(({ name }) => name === to);
  if (!next || !isServing(next) || !next.report?.streaming) {
    const message = next ? `${to} does not receive from ${topology.primary} now` : `there is no server ${to}`;
    return {
      topology,
      problem: { reason: "SwitchoverWaits", message: `${message}: it cannot become the primary` },
      after: 10_000,
    };
  }
  const { prepared, givenUp } = topology;
  const again = givenUp ? givenUp.at + backOff(givenUp) : 0;
  if (again > now) {
    const message = `${topology.primary} did not hand over in time: the next attempt is at ${new Date(again).toISOString()}`;
    return { topology, problem: { reason: "SwitchoverWaits", message }, after: again - now };
  }
  if (prepared?.to !== to) return { topology: { ...topology, prepared: { to, since: now } }, after: SOON };
  if (primary.report?.checkpoint !== prepared.since && now - prepared.since < CHECKPOINT)
    return { topology, after: SOON };
  const operation: Operation = { kind: "switchover", from: topology.primary, to, since: now };
  return {
    topology: {
      term: topology.term + 1,
      primary: "",
      upstream: topology.primary,
      fresh: false,
      operation,
      ...(givenUp && { givenUp }),
    },
    event: { type: "normal", reason: "SwitchoverBegins", message: `${topology.primary} hands over to ${to}` },
    after: SOON,
  };
}

/** The old primary stops in good order and sends all it has; when the next one has it, it leads. */
function handOver({ topology, members, now }: Situation, operation: Operation): Step {
  const [from, to] = [operation.from, operation.to ?? ""].map((name) => members.find((one) => one.name === name));
  const [last, got] = [from?.report, to?.report];
  const hasStopped = from !== undefined && hasStepped(from, topology) && last?.role === "stopped";
  const end = hasStopped ? last.lsn : parseLsn(operation.ended);
  const hasAll = end !== undefined && got?.lsn !== undefined && got.lsn > end;
  if (hasAll && got.role === "standby" && last?.role !== "primary") {
    return {
      topology: { term: topology.term + 1, primary: operation.to!, upstream: operation.to!, fresh: false },
      event: {
        type: "normal",
        reason: "SwitchedOver",
        message: `${operation.to} is the primary: it has everything that ${operation.from} had, up to ${lsnText(end)}`,
      },
      switched: operation.to!,
      after: SOON,
    };
  }
  if (hasStopped && operation.stopped === undefined) {
    return { topology: { ...topology, operation: { ...operation, stopped: now } }, after: SOON };
  }
  const isStopping = last?.role === "stopping" && last.term >= topology.term;
  const limit =
    operation.stopped !== undefined
      ? operation.stopped + PATIENCE
      : operation.since + (isStopping ? STOPPING : PATIENCE);
  if (now > limit) {
    const givenUp = { count: (topology.givenUp?.count ?? 0) + 1, at: now };
    return {
      topology: { term: topology.term + 1, primary: operation.from, upstream: operation.from, fresh: false, givenUp },
      event: {
        type: "warning",
        reason: "SwitchoverGivenUp",
        message: `${operation.to} did not get all that ${operation.from} has in time: ${operation.from} leads on`,
      },
      switched: operation.to!,
      after: SOON,
    };
  }
  const message = `${operation.from} hands over to ${operation.to}`;
  return { topology, problem: { reason: "SwitchingOver", message }, after: SOON };
}
