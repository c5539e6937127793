import { seededRandom } from "@konverge/core";
import { Pod } from "@konverge/kinds";
import type { TestEnvironment } from "@konverge/testing";

/** A request that was answered, or will be. Milliseconds on the clock of the test environment. */
interface Served {
  readonly arrived: number;
  readonly started: number;
  readonly finished: number;
}

interface Server {
  /** Milliseconds for a request that it has alone. */
  readonly serviceTime: number;
  /** When each of its slots is free. */
  readonly slots: number[];
  /** Requests that are not answered yet, and those answered lately. */
  pending: Served[];
  lately: Served[];
  /** Of all that were answered: how many, how long they were worked on, and how many took at most so long. */
  answered: number;
  worked: number;
  readonly within: number[];
  /** How many first tokens, further tokens and waits took at most so long. */
  readonly parts: Record<keyof typeof PART_BOUNDS, number[]>;
}

/** Milliseconds for which answered requests are remembered one by one. */
const LATELY = 120_000;

const BOUNDS = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2.5, 5, 10];

/** The buckets in which vLLM counts the parts of requests, by the name of the histogram. */
const PART_BOUNDS = {
  time_to_first_token_seconds: [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
  inter_token_latency_seconds: [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5],
  request_queue_time_seconds: [0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60],
};
/** The tokens of an answer. The first takes as long as each other one. */
const TOKENS = 10;

/** How servers answer. */
interface ServerOptions {
  /** Milliseconds for a request that a server has alone; some servers may take longer than others. */
  readonly serviceTime: number | ((pod: Pod) => number);
  readonly concurrency: number;
  readonly selector: string;
  /** By which part a request takes longer in a server that is full: a batch slows each of its requests down. Default: 0. */
  readonly crowding?: number;
}

/**
 * Simulates clients and servers, request by request: requests arrive at random, wait in one queue, and are processed by the
 * ready replicas, each for a given time. Servers report metrics like vLLM. It shares no code with the operator's model.
 */
export class SimulatedLoad {
  readonly #stage: TestEnvironment;
  readonly #random = seededRandom(7);
  readonly #servers = new Map<string, Server>();
  readonly #options: ServerOptions;
  #until = 0;
  /** Requests per second from now on. */
  rate = 0;

  constructor(stage: TestEnvironment, options: ServerOptions) {
    this.#stage = stage;
    this.#options = options;
    this.#until = stage.clock.monotonic();
  }

  /** Answers the operator's scrapes: metrics of the pod with that address, as of now. */
  readonly fetch = async (url: string): Promise<string> => {
    const server = this.#servers.get(new URL(url).hostname);
    if (!server) throw new Error(`nobody listens at ${url}`);
    return metricsOf(server, this.#stage.clock.monotonic());
  };

  /** Lets time pass while requests come in. */
  async pass(ms: number): Promise<void> {
    const end = this.#stage.clock.monotonic() + ms;
    while (this.#stage.clock.monotonic() < end) {
      await this.#stage.advance(5_000);
      await this.#seeReplicas();
      this.#send(this.#stage.clock.monotonic());
    }
  }

  /** The latency, in seconds, within which this part of the requests was answered that arrived in the last `ms`. */
  latency(ms: number, part: number): number {
    const since = this.#stage.clock.monotonic() - ms;
    const times = [...this.#servers.values()]
      .flatMap(({ pending, lately }) => [...lately, ...pending])
      .filter(({ arrived }) => arrived >= since)
      .map(({ arrived, finished }) => (finished - arrived) / 1000)
      .sort((a, b) => a - b);
    return times[Math.floor(part * times.length)] ?? 0;
  }

  async #seeReplicas(): Promise<void> {
    const ready = new Map<string, Pod>();
    for (const pod of await this.#stage.list(Pod, this.#options.selector)) {
      const { status, metadata } = pod;
      const isReady = status?.conditions?.some((one) => one.type === "Ready" && one.status === "True");
      if (isReady && status?.podIP && !metadata.deletionTimestamp) ready.set(status.podIP, pod);
    }
    const now = this.#stage.clock.monotonic();
    const { serviceTime: time } = this.#options;
    for (const [address, pod] of ready) {
      if (this.#servers.has(address)) continue;
      const slots = new Array<number>(this.#options.concurrency).fill(now);
      const within = new Array<number>(BOUNDS.length).fill(0);
      const parts = {
        time_to_first_token_seconds: PART_BOUNDS.time_to_first_token_seconds.map(() => 0),
        inter_token_latency_seconds: PART_BOUNDS.inter_token_latency_seconds.map(() => 0),
        request_queue_time_seconds: PART_BOUNDS.request_queue_time_seconds.map(() => 0),
      };
      const serviceTime = typeof time === "number" ? time : time(pod);
      this.#servers.set(address, {
        serviceTime,
        slots,
        pending: [],
        lately: [],
        answered: 0,
        worked: 0,
        within,
        parts,
      });
    }
    for (const address of this.#servers.keys()) if (!ready.has(address)) this.#servers.delete(address);
  }

  #send(until: number): void {
    for (let at = this.#until; this.rate > 0; ) {
      at += (-Math.log(1 - this.#random.next()) / this.rate) * 1000;
      if (at > until) break;
      this.#serve(at);
    }
    this.#until = until;
  }

  /** The slot that is free first takes it. */
  #serve(arrived: number): void {
    let best: { server: Server; slot: number } | undefined;
    for (const server of this.#servers.values()) {
      for (const [slot, free] of server.slots.entries()) {
        if (!best || free < best.server.slots[best.slot]!) best = { server, slot };
      }
    }
    if (!best) return;
    const { server, slot } = best;
    const started = Math.max(arrived, server.slots[slot]!);
    const { crowding = 0 } = this.#options;
    const others = server.slots.filter((free, i) => i !== slot && free > started).length;
    const slower = 1 + (crowding * others) / Math.max(1, server.slots.length - 1);
    const finished = started + server.serviceTime * slower * (0.8 + 0.4 * this.#random.next());
    server.slots[slot] = finished;
    server.pending.push({ arrived, started, finished });
  }
}

/** Moves requests that have been answered by now to where they are counted. */
function countAnswered(server: Server, now: number): void {
  const done = server.pending.filter(({ finished }) => finished <= now);
  server.pending = server.pending.filter(({ finished }) => finished > now);
  server.lately = [...server.lately.filter(({ finished }) => finished > now - LATELY), ...done];
  server.answered += done.length;
  for (const { arrived, started, finished } of done) {
    server.worked += finished - started;
    for (const [i, bound] of BOUNDS.entries()) if (finished - arrived <= bound * 1000) server.within[i]!++;
    const token = (finished - started) / TOKENS;
    observe(server, "time_to_first_token_seconds", started + token - arrived);
    observe(server, "inter_token_latency_seconds", token, TOKENS - 1);
    observe(server, "request_queue_time_seconds", started - arrived);
  }
}

function observe({ parts }: Server, histogram: keyof typeof PART_BOUNDS, ms: number, times = 1): void {
  for (const [i, bound] of PART_BOUNDS[histogram].entries()) if (ms <= bound * 1000) parts[histogram][i]! += times;
}

function partLines({ parts, answered }: Server, histogram: keyof typeof PART_BOUNDS): string[] {
  const line = (le: number | string, count: number) => `vllm:${histogram}_bucket{le="${le}",model_name="m"} ${count}`;
  const total = histogram === "inter_token_latency_seconds" ? answered * (TOKENS - 1) : answered;
  return [...PART_BOUNDS[histogram].map((bound, i) => line(bound, parts[histogram][i]!)), line("+Inf", total)];
}

function metricsOf(server: Server, now: number): string {
  countAnswered(server, now);
  const { pending, answered, worked, within } = server;
  const running = pending.filter(({ started }) => started <= now).length;
  const waiting = pending.filter(({ arrived, started }) => arrived <= now && started > now).length;
  const buckets = [...BOUNDS.entries()].map(
    ([i, bound]) => `vllm:e2e_request_latency_seconds_bucket{le="${bound}",model_name="m"} ${within[i]}`,
  );
  return [
    `vllm:num_requests_running{model_name="m"} ${running}`,
    `vllm:num_requests_waiting{model_name="m"} ${waiting}`,
    `vllm:request_success_total{finished_reason="stop",model_name="m"} ${answered}`,
    `vllm:request_inference_time_seconds_sum{model_name="m"} ${worked / 1000}`,
    `vllm:request_inference_time_seconds_count{model_name="m"} ${answered}`,
    ...buckets,
    `vllm:e2e_request_latency_seconds_bucket{le="+Inf",model_name="m"} ${answered}`,
    ...(Object.keys(PART_BOUNDS) as (keyof typeof PART_BOUNDS)[]).flatMap((name) => partLines(server, name)),
  ].join("\n");
}
