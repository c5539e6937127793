import { seededRandom } from "@konverge/core";
import { Pod } from "@konverge/kinds";
import type { TestEnvironment } from "@konverge/testing";

/** A request that was answered, or will be. Milliseconds on the stage's clock. */
interface Served {
  readonly arrived: number;
  readonly started: number;
  readonly finished: number;
}

interface Server {
  /** When each of its slots is free. */
  readonly slots: number[];
  /** Requests that are not answered yet, and those answered lately. */
  pending: Served[];
  lately: Served[];
  /** Of all that were answered: how many, how long they were worked on, and how many took at most so long. */
  answered: number;
  worked: number;
  readonly within: number[];
}

/** Milliseconds for which answered requests are remembered one by one. */
const LATELY = 120_000;

const BOUNDS = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2.5, 5, 10];

/**
 * Clients and servers, request by request: requests arrive at random, wait in one line, and are worked on by the replicas that
 * are ready, each for a given time. Servers tell of it as vLLM does. Nothing of the operator's own model is in it.
 */
export class SimulatedLoad {
  readonly #stage: TestEnvironment;
  readonly #random = seededRandom(7);
  readonly #servers = new Map<string, Server>();
  readonly #options: { serviceTime: number; concurrency: number; selector: string };
  #until = 0;
  /** Requests per second from now on. */
  rate = 0;

  constructor(stage: TestEnvironment, options: { serviceTime: number; concurrency: number; selector: string }) {
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
    const ready = new Set<string>();
    for (const { status, metadata } of await this.#stage.list(Pod, this.#options.selector)) {
      const isReady = status?.conditions?.some((one) => one.type === "Ready" && one.status === "True");
      if (isReady && status?.podIP && !metadata.deletionTimestamp) ready.add(status.podIP);
    }
    const now = this.#stage.clock.monotonic();
    for (const address of ready) {
      if (this.#servers.has(address)) continue;
      const slots = new Array<number>(this.#options.concurrency).fill(now);
      const within = new Array<number>(BOUNDS.length).fill(0);
      this.#servers.set(address, { slots, pending: [], lately: [], answered: 0, worked: 0, within });
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
    const finished = started + this.#options.serviceTime * (0.8 + 0.4 * this.#random.next());
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
  }
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
  ].join("\n");
}
