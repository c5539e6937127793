/**
 * How long requests take when some servers share them: the queue M/M/c, in which requests arrive at random, wait in one line
 * and take a random time to serve. Inference servers work on several requests at once, so a server here is a slot of one.
 *
 * Assumptions: arrivals are independent; the time to serve a request does not depend on how many are waiting. Measured
 * latency corrects what these get wrong.
 */

/** The demand on the servers. */
export interface ServiceDemand {
  /** Requests per second. */
  readonly load: number;
  /** Seconds that a slot is busy with a request. */
  readonly serviceTime: number;
  /** Concurrent requests of one replica. */
  readonly concurrency: number;
}

/** The latency objective. */
export interface LatencyObjective {
  /** Seconds. */
  readonly maxLatency: number;
  /** Of all requests, this part (0 … 1) is answered in time. */
  readonly part: number;
}

/** The maximum planned utilization of replicas, whatever the objective: beyond it, small variations cause queues. */
export const MAX_UTILIZATION = 0.9;
/** More slots than any deployment has: the search ends there. */
const MOST_SLOTS = 1_000_000;

/** The chance that a request finds all slots busy, by Erlang's formula; `offered` is load times service time. */
export function waitingProbability(slots: number, offered: number): number {
  if (offered <= 0) return 0;
  if (slots <= offered) return 1;
  return waitingFrom(blocking(slots, offered), slots, offered);
}

/** The chance that a request would be lost if there were no queue, which grows from slot to slot without overflow. */
function blocking(slots: number, offered: number, from = 0, chance = 1): number {
  let lost = chance;
  for (let k = from + 1; k <= slots; k++) lost = (offered * lost) / (k + offered * lost);
  return lost;
}

function waitingFrom(lost: number, slots: number, offered: number): number {
  const busy = offered / slots;
  return lost / (1 - busy * (1 - lost));
}

/**
 * Seconds within which this part of requests is answered, including the time in the queue. Infinite when overloaded.
 */
export function expectedLatency(
  replicas: number,
  { load, serviceTime, concurrency }: ServiceDemand,
  part: number,
): number {
  if (load <= 0) return serviceTime;
  const slots = replicas * concurrency;
  const offered = load * serviceTime;
  if (slots <= offered) return Number.POSITIVE_INFINITY;
  return serviceTime + waitOf(waitingProbability(slots, offered), slots, { load, serviceTime }, part);
}

/** Seconds of waiting that this part of requests does not exceed. Waits, if there are any, are exponential. */
function waitOf(
  waiting: number,
  slots: number,
  { load, serviceTime }: Omit<ServiceDemand, "concurrency">,
  part: number,
): number {
  if (waiting <= 1 - part) return 0;
  return (Math.log(waiting / (1 - part)) * serviceTime) / (slots - load * serviceTime);
}

/**
 * The fewest replicas that meet the objective at this load, within the maximum utilization. If no number meets it,
 * because the service time alone is too long, as many as can handle the load.
 */
export function replicasForObjective(demand: ServiceDemand, promised?: LatencyObjective): number {
  const { load, serviceTime, concurrency } = demand;
  if (load <= 0) return 0;
  const offered = load * serviceTime;
  const hopeless = !promised || serviceTime > promised.maxLatency;
  let replicas = Math.max(1, Math.ceil(offered / MAX_UTILIZATION / concurrency));
  if (hopeless) return replicas;
  let lost = blocking(replicas * concurrency, offered);
  while (replicas * concurrency < MOST_SLOTS) {
    const slots = replicas * concurrency;
    if (slots > offered) {
      const wait = waitOf(waitingFrom(lost, slots, offered), slots, demand, promised.part);
      if (serviceTime + wait <= promised.maxLatency) return replicas;
    }
    lost = blocking(slots + concurrency, offered, slots, lost);
    replicas++;
  }
  return replicas;
}
