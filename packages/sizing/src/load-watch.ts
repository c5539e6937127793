import type { Clock } from "@konverge/core";
import type { Pod } from "@konverge/kinds";
import type { RecentSizes } from "./decide.ts";
import type { LearnedLimits } from "./learned-limits.ts";
import { type LoadMeasurement, type Look, measuredBetween, type ServerSample } from "./measurement.ts";
import { type FetchMetrics, metricsUrl, scrapeMetrics } from "./scrape.ts";
import { readVllmMetrics } from "./vllm-metrics.ts";

/** Milliseconds over which load and latency are measured. */
export const MEASUREMENT_WINDOW_MS = 60_000;
/** Milliseconds between two scrapes of a deployment's servers. */
export const SCRAPE_PERIOD_MS = 15_000;
/** What was not read for this time no longer exists. */
const FORGOTTEN = 60 * 60_000;

/** The state of a deployment in memory. It is rebuilt after a restart. */
export interface SizingState {
  looks: Look[];
  recent: readonly RecentSizes[];
  /** When the size last changed, by the monotonic clock. */
  changedAt: number;
  /** When a queue was last being worked off; undefined if none was. */
  drainedAt?: number;
  seenAt: number;
  /** What was learned about replicas of this revision. */
  limits?: LearnedLimits;
  revision?: string | undefined;
  /** Since when an objective has been missed in each measurement, and when one last was, by the monotonic clock. */
  missedSince?: number | undefined;
  missedAt?: number;
}

/** Reads what a server answers at /metrics; undefined if the format is not known. */
export type ReadServerMetrics = (text: string) => ServerSample | undefined;

/** Scrapes the servers of deployments periodically, and measures load and latency. */
export class LoadMonitor {
  readonly #fetch: FetchMetrics;
  readonly #port: number;
  readonly #read: ReadServerMetrics;
  readonly #memories = new Map<string, SizingState>();

  /** Servers tell their metrics at this port, in vLLM's terms unless `read` knows others. */
  constructor(fetchMetrics: FetchMetrics, port: number, read: ReadServerMetrics = readVllmMetrics) {
    this.#fetch = fetchMetrics;
    this.#port = port;
    this.#read = read;
  }

  /** The state of an object, by its UID. */
  memory(uid: string, clock: Clock): SizingState {
    const now = clock.monotonic();
    for (const [key, { seenAt }] of this.#memories) if (now - seenAt > FORGOTTEN) this.#memories.delete(key);
    const memory = this.#memories.get(uid) ?? { looks: [], recent: [], changedAt: now, seenAt: now };
    memory.seenAt = now;
    this.#memories.set(uid, memory);
    return memory;
  }

  /** Scrapes the pods, unless that was just done, and returns the measurement of the current window. */
  async measure(
    memory: SizingState,
    pods: readonly Pod[],
    part: number,
    clock: Clock,
  ): Promise<LoadMeasurement | undefined> {
    const last = memory.looks.at(-1);
    const isDue = !last || clock.monotonic() - last.at >= SCRAPE_PERIOD_MS;
    if (isDue) {
      const look = await this.#look(pods, clock);
      const since = look.at - MEASUREMENT_WINDOW_MS;
      // One look before the window's beginning is kept, so that it is measured as a whole.
      const begin = memory.looks.findLastIndex(({ at }) => at <= since);
      if (look.samples.size > 0) memory.looks = [...memory.looks.slice(Math.max(0, begin)), look];
    }
    const [first] = memory.looks;
    const newest = memory.looks.at(-1);
    return first && newest && first !== newest ? measuredBetween(first, newest, part) : undefined;
  }

  /** The number of requests that wait at a gateway; 0 if it is not known. */
  async demand(url: string, clock: Clock): Promise<number> {
    const text = await scrapeMetrics(this.#fetch, url, clock);
    return text === undefined ? 0 : (this.#read(text)?.pending ?? 0);
  }

  async #look(pods: readonly Pod[], clock: Clock): Promise<Look> {
    const samples = new Map<string, ServerSample>();
    await Promise.all(
      pods.map(async (pod) => {
        const url = metricsUrl(pod, this.#port);
        const text = url && (await scrapeMetrics(this.#fetch, url, clock));
        const sample = text && this.#read(text);
        if (sample) samples.set(sampleKey(pod), sample);
      }),
    );
    return { at: clock.monotonic(), samples };
  }
}

function sampleKey({ metadata }: Pod): string {
  return metadata.uid ?? metadata.name;
}

/**
 * The measurement of some of the pods that were scraped, such as those of one revision: of the current window, or of all
 * requests since they started.
 */
export function measurementOf(
  { looks }: Pick<SizingState, "looks">,
  pods: readonly Pod[],
  part: number,
  period: "window" | "all" = "window",
): LoadMeasurement | undefined {
  const newest = looks.at(-1);
  const first = period === "window" ? looks[0] : { at: Number.NEGATIVE_INFINITY, samples: new Map() };
  if (!first || !newest || first === newest) return undefined;
  const keys = new Set(pods.map(sampleKey));
  const only = ({ at, samples }: Look): Look => ({
    at,
    samples: new Map([...samples].filter(([key]) => keys.has(key))),
  });
  return measuredBetween(only(first), only(newest), part);
}
