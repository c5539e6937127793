import { type ConditionState, conditionFalse, conditionTrue, conditionUnknown, PermanentError } from "konverge";
import {
  correctedSize,
  type LoadMeasurement,
  type RequiredReplicas,
  requiredReplicas,
  type SizingRules,
  type SizingState,
} from "konverge/sizing";
import type { DynamoGraphDeployment } from "./graph-deployment.ts";

/** The size that follows from an SLA, as the status keeps it. */
export type Sizing = NonNullable<NonNullable<DynamoGraphDeployment["status"]>["sizing"]>;

/** What is known when a graph's workers are sized. */
export interface Situation {
  readonly graph: DynamoGraphDeployment;
  readonly measured: LoadMeasurement | undefined;
  /** The current number of workers, and how many are ready. */
  readonly current: number | undefined;
  readonly ready: number;
  readonly monotonic: number;
}

/** Of all requests, this part is promised to be answered in time. */
export const PROMISED_PART = 0.95;
/** Milliseconds for which fewer must have been enough before there are fewer. */
const DOWN_AFTER = 5 * 60_000;
/** Without a bound of its own, a graph grows to so many times what its SLA declares, and to so many in any case. */
const GROWTH = 4;
const DEFAULT_MOST = 10;

/**
 * How many workers a graph's model takes, and why. The declared throughput and service time give the first size; what the
 * workers tell about themselves corrects it, but never below what is declared as the least throughput.
 */
export function sizingOf(situation: Situation, memory: SizingState): { sizing: Sizing; need: RequiredReplicas } {
  const { graph, measured, current, ready, monotonic } = situation;
  const last = graph.status?.sizing;
  const rules = rulesOf(graph, last?.measured === true);
  const declared = requiredReplicas({ ...rules, load: rules.minThroughput }, undefined, undefined);
  if (declared.hopeless && !measured && !last?.measured) throw impossible(graph);
  if (!measured && !last?.measured)
    return { sizing: { replicas: declared.replicas, reason: declaration(graph) }, need: declared };
  const known = { replicas: last?.replicas ?? declared.replicas, byMeasurement: last?.measured === true };
  const { replicas, need } = correctedSize({ rules, measured, last: known, current, ready, monotonic }, memory);
  if (last?.measured && last.replicas === replicas) return { sizing: last, need };
  return { sizing: { replicas, reason: measurement(graph, measured, need), measured: true }, need };
}

function rulesOf({ spec: { sla, model } }: DynamoGraphDeployment, isMeasured: boolean): SizingRules {
  const { maxLatencyMs, minThroughput = 0, maxReplicas } = sla ?? {};
  const rules: SizingRules = {
    initial: 1,
    min: 1,
    max: maxReplicas ?? Number.MAX_SAFE_INTEGER,
    affordable: undefined,
    concurrency: model!.concurrency,
    // What was measured once stays when measuring fails for a while.
    load: isMeasured ? undefined : minThroughput,
    serviceTime: model!.serviceTimeMs / 1000,
    minThroughput,
    promised: maxLatencyMs === undefined ? undefined : { maxLatency: maxLatencyMs / 1000, part: PROMISED_PART },
    burst: 0,
    downAfter: DOWN_AFTER,
  };
  if (maxReplicas !== undefined) return rules;
  const { replicas } = requiredReplicas({ ...rules, load: minThroughput }, undefined, undefined);
  return { ...rules, max: Math.max(DEFAULT_MOST, GROWTH * replicas) };
}

function impossible({ spec: { sla, model } }: DynamoGraphDeployment): PermanentError {
  return new PermanentError(
    "SlaImpossible",
    `${sla?.minThroughput ?? 0} requests per second within ${sla?.maxLatencyMs} ms is impossible: a single request takes ${model!.serviceTimeMs} ms (spec.model.serviceTimeMs)`,
  );
}

const promise = ({ spec: { sla } }: DynamoGraphDeployment) =>
  sla?.maxLatencyMs === undefined ? "" : ` within ${sla.maxLatencyMs} ms`;

function declaration(graph: DynamoGraphDeployment): string {
  const { sla, model } = graph.spec;
  return `${sla?.minThroughput ?? 0} requests per second${promise(graph)}, at ${model!.serviceTimeMs} ms each and ${model!.concurrency} at a time per replica`;
}

function measurement(
  graph: DynamoGraphDeployment,
  measured: LoadMeasurement | undefined,
  need: RequiredReplicas,
): string {
  if (!measured) return "the size that was measured last";
  const tidy = (value: number) => Number(value.toPrecision(2));
  const service = measured.serviceTime === undefined ? "" : ` of ${tidy(measured.serviceTime * 1000)} ms each`;
  const load = `${tidy(measured.load)} requests per second${service} were measured`;
  if (need.reason === "LatencyAboveSLA")
    return `${load}, of which too many took longer than ${graph.spec.sla?.maxLatencyMs} ms`;
  if (need.short)
    return `${load}, which require more than the ${graph.spec.sla?.maxReplicas ?? need.replicas} replicas that are allowed`;
  return `${load}${promise(graph) && `, to be answered${promise(graph)}`}`;
}

/** Whether what is promised is kept; undefined where nothing is. */
export function slaCondition(
  { spec: { sla } }: DynamoGraphDeployment,
  measured: LoadMeasurement | undefined,
  need: RequiredReplicas,
): ConditionState | undefined {
  if (sla?.maxLatencyMs === undefined) return undefined;
  if (need.hopeless) {
    return conditionFalse(
      "ServiceTimeExceedsSLA",
      `a single request takes longer than ${sla.maxLatencyMs} ms, whatever the number of replicas`,
    );
  }
  if (measured?.latency === undefined) return conditionUnknown("NotMeasured", "too few requests were measured");
  const part = `${PROMISED_PART * 100}% of requests`;
  if (measured.latency * 1000 <= sla.maxLatencyMs)
    return conditionTrue("WithinSLA", `${part} are answered within ${sla.maxLatencyMs} ms`);
  const why = need.short ? ", and no more replicas are allowed" : "";
  return conditionFalse(
    need.short ? need.reason : "LatencyAboveSLA",
    `fewer than ${part} are answered within ${sla.maxLatencyMs} ms${why}`,
  );
}
