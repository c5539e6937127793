import type { PartOfRequest, SizingRules, TokenObjectives } from "konverge/sizing";
import { durationMs } from "konverge/time";
import type { ModelDeployment } from "./model-deployment.ts";
import { flagSetBy } from "./server-args.ts";

/** The bounds that apply where none are given. */
const DEFAULT_MAX = 10;
const DEFAULT_DOWN_AFTER = 5 * 60_000;
const DEFAULT_BURST = 50;
/** Requests that a replica works on at once: a quarter of what vLLM takes in, since its memory rarely holds more. */
const DEFAULT_SEQUENCES = 64;

/** What a spec says about its size, in numbers. */
export function sizingRules({ spec }: ModelDeployment): SizingRules {
  const { sla, capacity, load, scaling, cost, replicas } = spec;
  const min = scaling?.minReplicas ?? 1;
  return {
    initial: replicas ?? min,
    min,
    max: scaling?.maxReplicas ?? Math.max(DEFAULT_MAX, 2 * (replicas ?? 0), min),
    affordable: cost && Math.floor(cost.maxPerHour / cost.perReplicaHour + 1e-9),
    concurrency: capacity?.concurrency ?? (spec.parallelism?.data ?? 1) * (sequencesOf(spec) ?? DEFAULT_SEQUENCES),
    load: load?.requestsPerSecond,
    serviceTime: seconds(capacity?.serviceTime),
    minThroughput: sla?.minThroughput ?? 0,
    promised: sla?.maxLatency
      ? { maxLatency: durationMs(sla.maxLatency) / 1000, part: sla.percentile / 100 }
      : undefined,
    objectives: tokenObjectives(sla),
    burst: scaling?.burst ?? DEFAULT_BURST,
    downAfter: scaling ? durationMs(scaling.downAfter) : DEFAULT_DOWN_AFTER,
  };
}

function tokenObjectives(sla: ModelDeployment["spec"]["sla"]): TokenObjectives | undefined {
  const max: Partial<Record<PartOfRequest, number>> = {};
  for (const name of ["timeToFirstToken", "interTokenLatency", "queueTime"] as const) {
    const value = seconds(sla?.[name]);
    if (value !== undefined) max[name] = value;
  }
  return sla && Object.keys(max).length > 0 ? { part: sla.percentile / 100, max } : undefined;
}

/** As the server's own argument says, for each copy of the model. */
function sequencesOf({ args = [] }: ModelDeployment["spec"]): number | undefined {
  const at = args.findIndex((arg) => flagSetBy(arg, ["--max-num-seqs"]) !== undefined);
  const value = Number(args[at]?.split("=")[1] ?? args[at + 1]);
  return at >= 0 && Number.isInteger(value) && value > 0 ? value : undefined;
}

function seconds(duration: string | undefined): number | undefined {
  return duration === undefined ? undefined : durationMs(duration) / 1000;
}
