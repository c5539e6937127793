/** What one replica reports since it started: counts and sums only grow, unless it restarts. */
export interface ServerSample {
  /** Requests that were answered. */
  readonly answered: number;
  /** Requests that it has and has not answered yet. */
  readonly pending: number;
  /** Requests that it answered with an error, as far as it reports them. */
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

/** What one replica reported, and since when it can have done so. */
export interface ReplicaSample extends ServerSample {
  /** When its pod was created, by the clock of {@link Scrape.at}; minus infinity if that is not known. */
  readonly createdAt: number;
}

/** What was read of all replicas at one moment, by pod. */
export interface Scrape {
  /** Milliseconds on a clock that only grows. */
  readonly at: number;
  /** The replicas that answered. */
  readonly samples: ReadonlyMap<string, ReplicaSample>;
  /** All that took requests, whether they answered or not. */
  readonly serving: ReadonlySet<string>;
}

/** With fewer requests, no percentile is reported. */
const FEWEST = 20;

/** A queue is draining if, at the present rate, it is empty after at most this many measurements. */
const DRAINED_WITHIN = 2;
/** If fewer than this part of the answers came out of the queue, its length changed by chance. */
const LEAST_DRAINED = 0.05;

const NOTHING: ServerSample = { answered: 0, pending: 0, service: { sum: 0, count: 0 }, latency: new Map() };

/** What a replica did while it was observed. */
interface Growth {
  answered: number;
  pending: number;
  failed: number;
  sum: number;
  count: number;
  readonly latency: Map<number, number>;
  readonly parts: Map<PartOfRequest, Map<number, number>>;
}

/**
 * What happened between the first and the last of these scrapes.
 *
 * A replica counts from the first scrape that it answered to the last: what it had done before is unknown, not zero, unless its
 * pod was created in between. Lower counts than before mean that it restarted, and counts from zero. One that serves and did
 * not answer lately is assumed to have gone on at its rate; one that no longer serves, to have taken no requests since.
 */
export function measuredOver(scrapes: readonly Scrape[], part: number): LoadMeasurement | undefined {
  const [first] = scrapes;
  const newest = scrapes.at(-1);
  if (!first || !newest || newest.at <= first.at) return undefined;
  const window = newest.at - first.at;
  const total = growthOf([]);
  let arrived = 0;
  let growth = 0;
  let pending = 0;
  for (const key of new Set(scrapes.flatMap(({ samples }) => [...samples.keys()]))) {
    const answers = scrapes.filter(({ samples }) => samples.has(key));
    const samples = answers.map((one) => one.samples.get(key)!);
    const done = growthOf(samples[0]!.createdAt >= first.at ? [NOTHING, ...samples] : samples);
    addTo(total, done);
    const isServing = newest.serving.has(key);
    const observed = isServing ? answers.at(-1)!.at - first.at : window;
    if (observed > 0) arrived += (done.answered + done.pending) * (window / observed);
    if (!isServing) continue;
    growth += done.pending;
    pending += samples.at(-1)!.pending;
  }
  return {
    ...summary(total, part),
    load: Math.max(0, arrived) / (window / 1000),
    draining: -growth > LEAST_DRAINED * total.answered && pending <= -growth * DRAINED_WITHIN,
  };
}

/** What a replica did from the first of its samples to the last. */
function growthOf(samples: readonly ServerSample[]): Growth {
  const done: Growth = { answered: 0, pending: 0, failed: 0, sum: 0, count: 0, latency: new Map(), parts: new Map() };
  for (const [i, now] of samples.entries()) {
    if (i === 0) continue;
    const known = samples[i - 1]!;
    const isRestarted = known.answered > now.answered || known.service.count > now.service.count;
    const before = isRestarted ? NOTHING : known;
    done.answered += now.answered - before.answered;
    done.pending += now.pending - before.pending;
    done.failed += Math.max(0, (now.failed ?? 0) - (before.failed ?? 0));
    done.sum += now.service.sum - before.service.sum;
    done.count += now.service.count - before.service.count;
    addGrowth(done.latency, now.latency, before.latency);
    for (const [name, buckets] of now.parts ?? []) addGrowth(partOf(done, name), buckets, before.parts?.get(name));
  }
  return done;
}

/** The measurement of all requests that replicas answered since they started. Their rate is not known. */
export function measuredSinceStart(samples: readonly ServerSample[], part: number): LoadMeasurement {
  const total = growthOf([]);
  for (const sample of samples) addTo(total, growthOf([NOTHING, sample]));
  return { ...summary(total, part), load: 0, draining: false };
}

function addTo(total: Growth, one: Growth): void {
  for (const name of ["answered", "pending", "failed", "sum", "count"] as const) total[name] += one[name];
  addGrowth(total.latency, one.latency, undefined);
  for (const [name, buckets] of one.parts) addGrowth(partOf(total, name), buckets, undefined);
}

function partOf({ parts }: Growth, name: PartOfRequest): Map<number, number> {
  const buckets = parts.get(name) ?? new Map<number, number>();
  parts.set(name, buckets);
  return buckets;
}

function summary({ answered, failed, sum, count, latency, parts }: Growth, part: number) {
  return {
    serviceTime: count > 0 ? sum / count : undefined,
    latency: answered >= FEWEST ? quantile(latency, part) : undefined,
    percentiles: percentilesOf(parts, part),
    requests: answered,
    errorRate: answered + failed >= FEWEST ? failed / (answered + failed) : undefined,
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
