/** What one replica reports since it started: counts and sums only grow, unless it restarts. */
export interface ServerSample {
  /** Requests that were answered. */
  readonly answered: number;
  /** Requests that it has and has not answered yet. */
  readonly pending: number;
  /** Sum and number of the times it took to work on requests, without waiting; seconds. */
  readonly service: { readonly sum: number; readonly count: number };
  /** How many requests took at most this many seconds, waiting included, by the bound. */
  readonly latency: ReadonlyMap<number, number>;
}

/** Load and latency between two scrapes. */
export interface LoadMeasurement {
  /** Requests per second that arrived. */
  readonly load: number;
  /** Service time in seconds; undefined if no request was answered. */
  readonly serviceTime: number | undefined;
  /** Latency in seconds at the requested percentile; undefined if there were too few requests. */
  readonly latency: number | undefined;
  /** The number of requests in the measurement. */
  readonly requests: number;
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
  let sum = 0;
  let count = 0;
  const buckets = new Map<number, number>();
  for (const [pod, now] of later.samples) {
    const known = earlier.samples.get(pod) ?? NOTHING;
    const before = known.answered > now.answered ? NOTHING : known;
    answered += now.answered - before.answered;
    growth += now.pending - before.pending;
    pending += now.pending;
    sum += now.service.sum - before.service.sum;
    count += now.service.count - before.service.count;
    for (const [bound, value] of now.latency) {
      buckets.set(bound, (buckets.get(bound) ?? 0) + value - (before.latency.get(bound) ?? 0));
    }
  }
  return {
    load: Math.max(0, answered + growth) / seconds,
    serviceTime: count > 0 ? sum / count : undefined,
    latency: answered >= FEWEST ? quantile(buckets, part) : undefined,
    requests: answered,
    draining: -growth > LEAST_DRAINED * answered && pending <= -growth * DRAINED_WITHIN,
  };
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
