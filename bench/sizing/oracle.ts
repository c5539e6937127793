import { seededRandom } from "@konverge/core";

/** Servers as the simulated ones are, and what is promised about them. */
export interface Serving {
  /** Milliseconds of a request, which vary by a fifth. */
  readonly serviceTime: number;
  readonly concurrency: number;
  /** Seconds within which this part of requests is answered. */
  readonly maxLatency: number;
  readonly part: number;
}

/** Requests that one simulation sends. */
const REQUESTS = 20_000;

/** The latency in seconds of this part of requests, request by request: it shares nothing with the operator's model. */
function latencyOf({ serviceTime, concurrency, part }: Serving, replicas: number, rate: number): number {
  const random = seededRandom(11);
  const free = new Float64Array(replicas * concurrency);
  const times = new Float64Array(REQUESTS);
  let at = 0;
  for (let i = 0; i < REQUESTS; i++) {
    at += (-Math.log(1 - random.next()) / rate) * 1000;
    let slot = 0;
    for (let k = 1; k < free.length; k++) if (free[k]! < free[slot]!) slot = k;
    const finished = Math.max(at, free[slot]!) + serviceTime * (0.8 + 0.4 * random.next());
    free[slot] = finished;
    times[i] = (finished - at) / 1000;
  }
  return times.sort()[Math.floor(part * REQUESTS)]!;
}

/** For each number of replicas, the most requests per second that it answers in time. */
export function capacities(serving: Serving, most: number): number[] {
  const found = [0];
  for (let replicas = 1; replicas <= most; replicas++) {
    let [low, high] = [found.at(-1)!, (replicas * serving.concurrency * 1000) / serving.serviceTime];
    while (high - low > 0.5) {
      const rate = (low + high) / 2;
      if (latencyOf(serving, replicas, rate) <= serving.maxLatency) low = rate;
      else high = rate;
    }
    found.push(low);
  }
  return found;
}

/** The fewest replicas that answer this rate in time: what someone would run who knows the load. */
export function oracleSize(capacity: readonly number[], rate: number): number {
  const found = capacity.findIndex((most) => most >= rate);
  return Math.max(1, found < 0 ? capacity.length - 1 : found);
}
