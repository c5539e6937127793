/** What one replica reports since it started: counts and sums only grow, unless it restarts. */
export interface ServerSample {
  /** Requests that were answered. */
  readonly answered: number;
  /** Requests that it has and has not answered yet. */
  readonly pending: number;
  /** Requests that it answered with an error of its own, as far as it reports them. */
  readonly failed?: number;
  /** Sum and number of the times it took to work on requests, without waiting; seconds. */
  readonly service: { readonly sum: number; readonly count: number };
  /** How many requests took at most this many seconds, waiting included, by the bound. */
  readonly latency: ReadonlyMap<number, number>;
  /** The same for parts of requests, as far as the server reports them. */
  readonly parts?: ReadonlyMap<PartOfRequest, ReadonlyMap<number, number>>;
}

/** Times within a request, as inference servers report them. */
export type PartOfRequest = "timeToFirstToken" | "interTokenLatency" | "queueTime";

/** Load and latency between two scrapes. */
export interface LoadMeasurement {
  /** Requests per second that arrived. */
  readonly load: number;
  /** Service time in seconds; undefined if no request was answered. */
  readonly serviceTime: number | undefined;
  /** Latency in seconds at the requested percentile; undefined if there were too few requests. */
  readonly latency: number | undefined;
  /** The same percentile of parts of requests; those that are missing had too few observations. */
  readonly percentiles?: Readonly<Partial<Record<PartOfRequest, number>>>;
  /** The number of requests in the measurement. */
  readonly requests: number;
  /** The part (0 … 1) of requests that failed in the server; undefined if there were too few requests. */
  readonly errorRate?: number | undefined;
  /** A queue of earlier requests is shrinking and will soon be empty: latency still includes the time in that queue. */
  readonly draining: boolean;
}

/** Samples of all replicas at one moment, by pod. */
export interface Look {
  /** Milliseconds on a clock that only grows. */
  readonly at: number;
  readonly samples: ReadonlyMap<string, ServerSample>;
}

/** With fewer requests, no percentile is reported. */
const FEWEST = 20;

/** A queue is draining if, at the present rate, it is empty after at most this many measurements. */
const DRAINED_WITHIN = 2;
/** If fewer than this part of the answers came out of the queue, its length changed by chance. */
const LEAST_DRAINED = 0.05;

const NOTHING: ServerSample = { answered: 0, pending: 0, service: { sum: 0, count: 0 }, latency: new Map() };

/**
 * What happened between two measurements. A replica that restarted, or is new, counts from zero; what a replica did that has gone
 * meanwhile is not known.
 */
export function measuredBetween(earlier: Look, later: Look, part: number): LoadMeasurement | undefined {
  const seconds = (later.at - earlier.at) / 1000;
  if (seconds <= 0) return undefined;
  let answered = 0;
  let growth = 0;
  let pending = 0;
  let failed = 0;
  let sum = 0;
  let count = 0;
  const latency = new Map<number, number>();
  const parts = new Map<PartOfRequest, Map<number, number>>();
  for (const [pod, now] of later.samples) {
    const known = earlier.samples.get(pod) ?? NOTHING;
    const before = known.answered > now.answered ? NOTHING : known;
    answered += now.answered - before.answered;
    growth += now.pending - before.pending;
    pending += now.pending;
    failed += Math.max(0, (now.failed ?? 0) - (before.failed ?? 0));
    sum += now.service.sum - before.service.sum;
    count += now.service.count - before.service.count;
    addGrowth(latency, now.latency, before.latency);
    for (const [name, buckets] of now.parts ?? []) {
      const sum = parts.get(name) ?? new Map<number, number>();
      addGrowth(sum, buckets, before.parts?.get(name));
      parts.set(name, sum);
    }
  }
  return {
    load: Math.max(0, answered + growth) / seconds,
    serviceTime: count > 0 ? sum / count : undefined,
    latency: answered >= FEWEST ? quantile(latency, part) : undefined,
    percentiles: percentilesOf(parts, part),
    requests: answered,
    errorRate: answered + failed >= FEWEST ? failed / (answered + failed) : undefined,
    draining: -growth > LEAST_DRAINED * answered && pending <= -growth * DRAINED_WITHIN,
  };
}

function addGrowth(
  sum: Map<number, number>,
  now: ReadonlyMap<number, number>,
  before: ReadonlyMap<number, number> | undefined,
): void {
  for (const [bound, value] of now) sum.set(bound, (sum.get(bound) ?? 0) + value - (before?.get(bound) ?? 0));
}

function percentilesOf(
  parts: ReadonlyMap<PartOfRequest, ReadonlyMap<number, number>>,
  part: number,
): Partial<Record<PartOfRequest, number>> {
  const found: Partial<Record<PartOfRequest, number>> = {};
  for (const [name, buckets] of parts) {
    const value = Math.max(0, ...buckets.values()) >= FEWEST ? quantile(buckets, part) : undefined;
    if (value !== undefined) found[name] = value;
  }
  return found;
}

/** A quantile of a histogram with cumulative buckets, evenly spread within each; the last bound for what is beyond it. */
export function quantile(buckets: ReadonlyMap<number, number>, part: number): number | undefined {
  const sorted = [...buckets].sort(([a], [b]) => a - b);
  const total = sorted.at(-1)?.[1] ?? 0;
  if (total <= 0) return undefined;
  const rank = part * total;
  let [lower, below] = [0, 0];
  for (const [bound, upTo] of sorted) {
    if (upTo >= rank) {
      if (bound === Number.POSITIVE_INFINITY) return lower;
      return upTo === below ? bound : lower + ((bound - lower) * (rank - below)) / (upTo - below);
    }
    [lower, below] = [bound === Number.POSITIVE_INFINITY ? lower : bound, upTo];
  }
  return lower;
}
