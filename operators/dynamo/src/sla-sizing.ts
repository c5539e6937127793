/** A load and what is promised about it. */
export interface Demand {
  /** Requests per second. */
  readonly throughput: number;
  /** Milliseconds that a request may take on average, waiting included; undefined: no promise. */
  readonly maxLatencyMs: number | undefined;
  /** Milliseconds that a request takes when nobody else asks. */
  readonly serviceTimeMs: number;
  /** Requests that one replica works on at a time. */
  readonly concurrency: number;
}

const MOST_REPLICAS = 1000;

/**
 * The fewest replicas that keep the promise, by the queue with many servers and random arrivals (M/M/c): the wait follows
 * from Erlang's formula. Undefined if no number of them can: a request alone takes longer than is promised.
 */
export function replicasFor(demand: Demand): number | undefined {
  const { throughput, maxLatencyMs, serviceTimeMs, concurrency } = demand;
  if (maxLatencyMs !== undefined && serviceTimeMs > maxLatencyMs) return undefined;
  if (throughput === 0) return 1;
  const load = (throughput * serviceTimeMs) / 1000;
  for (let replicas = 1; replicas <= MOST_REPLICAS; replicas++) {
    const servers = replicas * concurrency;
    if (servers <= load) continue;
    if (maxLatencyMs === undefined || latencyMs(load, servers, serviceTimeMs) <= maxLatencyMs) return replicas;
  }
  return undefined;
}

/** The average time of a request, waiting included. The load, in Erlang, must be less than the servers. */
export function latencyMs(load: number, servers: number, serviceTimeMs: number): number {
  return serviceTimeMs + (waitProbability(load, servers) * serviceTimeMs) / (servers - load);
}

/** How likely it is that a request has to wait (Erlang C), by the stable recurrence of Erlang B. */
export function waitProbability(load: number, servers: number): number {
  let blocked = 1;
  for (let n = 1; n <= servers; n++) blocked = (load * blocked) / (n + load * blocked);
  return blocked / (1 - (load / servers) * (1 - blocked));
}
