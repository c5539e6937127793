import {
  correctedSize,
  isMissed,
  type LatencyIndicator,
  type LoadMeasurement,
  objectiveResults,
  type RequiredReplicas,
  requiredReplicas,
  type SizeReason,
  type SizingRules,
  type SizingState,
} from "konverge/sizing";
import { durationMs, formatDurationMs } from "konverge/time";
import type { ModelDeployment } from "./model-deployment.ts";
import { missedText } from "./objective-text.ts";

/** A change of size, as the status keeps it. */
export type Decision = NonNullable<NonNullable<ModelDeployment["status"]>["decisions"]>[number];

/** What is known when the size is decided. */
export interface Situation {
  readonly deployment: ModelDeployment;
  readonly rules: SizingRules;
  readonly measured: LoadMeasurement | undefined;
  /** The current number of replicas; undefined before there are any. */
  readonly current: number | undefined;
  readonly ready: number;
  /** Requests that a gateway holds back for a model that does not run. */
  readonly demand: number;
  /** Milliseconds since 1970, and on the clock that only grows. */
  readonly now: number;
  readonly monotonic: number;
  /** Changes with what the replicas run. */
  readonly revision: string | undefined;
}

/** The desired size of a deployment, and why. */
export interface Size {
  readonly replicas: number;
  readonly need: RequiredReplicas;
  readonly reason: string;
  /** Since when there was no request; undefined if there was one, or if that does not matter. */
  readonly idleSince: string | undefined;
  /** Objectives that are missed whatever the number of replicas. */
  readonly futile?: ReadonlySet<LatencyIndicator>;
}

/** Asks that a model that sleeps be woken: a time, newer than when it was put to sleep. */
export const WAKE = "ai.example.com/wake";
/** How many changes of size the status keeps. */
const KEPT = 10;
/** Sizes with these reasons follow from what was measured: they stay when measuring fails for a while. */
const MEASURED = new Set<string>([
  "LoadMeasured",
  "LatencyAboveSLA",
  "TimeToFirstTokenAboveSLA",
  "InterTokenLatencyAboveSLA",
  "QueueTimeAboveSLA",
  "LimitLearned",
  "AtMinimum",
  "AtMaximum",
  "CostCap",
] satisfies SizeReason[]);

/** Decides the size. What `memory` keeps about the past is brought up to date. */
export function sizeOf(situation: Situation, memory: SizingState): Size {
  const { rules, measured, current, ready, monotonic, revision } = situation;
  const last = situation.deployment.status?.decisions?.at(-1);
  const idleSince = idleTime(situation);
  if (!last) {
    const need = requiredReplicas(rules, undefined, undefined);
    return { replicas: need.replicas, need, reason: need.reason, idleSince };
  }
  if (last.to === 0) return asleep(situation, last, idleSince);
  if (isIdle(situation, idleSince)) {
    return { replicas: 0, need: requiredReplicas(rules, measured, undefined), reason: "Idle", idleSince };
  }
  const byMeasurement = MEASURED.has(last.reason);
  const isCapped = last.reason === "CostCap" || last.reason === "AtMaximum";
  const before = { replicas: last.to, byMeasurement, isCapped };
  const present = { rules, measured, current, ready, monotonic, revision, last: before };
  const { replicas, need, kept, futile } = correctedSize(present, memory);
  return { replicas, need, reason: kept ? last.reason : need.reason, idleSince, futile };
}

function asleep(situation: Situation, last: Decision, idleSince: string | undefined): Size {
  const { deployment, rules, demand } = situation;
  const need = requiredReplicas(rules, undefined, undefined);
  const isRequested = Date.parse(deployment.metadata.annotations?.[WAKE] ?? "") > Date.parse(last.time);
  const maySleep = deployment.spec.scaling?.toZeroAfter !== undefined;
  if (maySleep && demand === 0 && !isRequested) return { replicas: 0, need, reason: "Idle", idleSince };
  return { replicas: Math.max(1, need.replicas), need, reason: "Woken", idleSince: undefined };
}

function idleTime({ deployment, measured, now }: Situation): string | undefined {
  if (!deployment.spec.scaling?.toZeroAfter) return undefined;
  const known = deployment.status?.idleSince;
  if (!measured) return known;
  return measured.load > 0 ? undefined : (known ?? `${new Date(now).toISOString().slice(0, 19)}Z`);
}

function isIdle({ deployment, now }: Situation, idleSince: string | undefined): boolean {
  const { toZeroAfter } = deployment.spec.scaling ?? {};
  return toZeroAfter !== undefined && idleSince !== undefined && now - Date.parse(idleSince) >= durationMs(toZeroAfter);
}

/** The decisions to be kept: one more, if the size changed. */
export function decisionsAfter(situation: Situation, size: Size): readonly Decision[] {
  const { deployment, now } = situation;
  const known = deployment.status?.decisions ?? [];
  const from = known.at(-1)?.to ?? 0;
  if (known.length > 0 && from === size.replicas) return known;
  const time = `${new Date(now).toISOString().slice(0, 19)}Z`;
  const decision = { time, from, to: size.replicas, reason: size.reason, message: explained(situation, size) };
  return [...known, decision].slice(-KEPT);
}

function explained({ deployment, rules, measured, demand }: Situation, { replicas, reason, need }: Size): string {
  const { sla, cost } = deployment.spec;
  const load = measured?.load ?? rules.load;
  const service = measured?.serviceTime ?? rules.serviceTime;
  const known =
    load !== undefined && service !== undefined
      ? `${tidy(load)} requests/s of ${formatDurationMs(Math.max(1, Math.round(service * 1000)))} each`
      : "no load is known";
  const promise = sla?.maxLatency ? ` to answer ${sla.percentile}% within ${sla.maxLatency}` : "";
  switch (reason) {
    case "Idle":
      return `no request for ${deployment.spec.scaling?.toZeroAfter}`;
    case "Woken":
      return demand > 0 ? `${demand} requests wait` : "a wake-up was requested";
    case "NothingMeasured":
      return `${replicas} replicas to begin with, ${known}`;
    case "LatencyAboveSLA":
    case "TimeToFirstTokenAboveSLA":
    case "InterTokenLatencyAboveSLA":
    case "QueueTimeAboveSLA":
      return missedText(objectiveResults(rules, measured).filter(isMissed), sla?.percentile ?? 0);
    case "LimitLearned":
      return `${known} take ${replicas}: with more for each replica, an objective was missed within the last hour`;
    case "CostCap":
      return `${known} take more, but ${cost?.maxPerHour} per hour pay for ${replicas}`;
    case "AtMaximum":
      return `${known} take more than the most that is allowed`;
    case "AtMinimum":
      return `${known} take fewer than the least that is allowed`;
    default:
      return need.hopeless
        ? `${known} take ${replicas}, though each alone takes longer than ${sla?.maxLatency}`
        : `${known} take ${replicas}${promise}`;
  }
}

/** A number with two digits that count. */
export function tidy(value: number): number {
  return Number(value.toPrecision(2));
}

/** The last reported number, unless it is off by more than a tenth, so that small changes are not written. */
export function steadyNumber(before: number | undefined, now: number): number {
  return before !== undefined && Math.abs(now - before) <= 0.1 * Math.abs(before) ? before : tidy(now);
}
