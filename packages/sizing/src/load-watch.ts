import type { Clock } from "@konverge/core";
import type { Pod } from "@konverge/kinds";
import type { RecentSizes } from "./decide.ts";
import type { LearnedLimits } from "./learned-limits.ts";
import {
  type LoadMeasurement,
  measuredOver,
  measuredSinceStart,
  type ReplicaSample,
  type Scrape,
  type ServerSample,
} from "./measurement.ts";
import { type FetchMetrics, metricsUrl, scrapeMetrics } from "./scrape.ts";
import { readInferenceMetrics } from "./server-metrics.ts";

/** Milliseconds over which load and latency are measured. */
export const MEASUREMENT_WINDOW_MS = 60_000;
/** Milliseconds between two scrapes of a deployment's servers. */
export const SCRAPE_PERIOD_MS = 15_000;
/** What was not read for this time no longer exists. */
const FORGOTTEN = 60 * 60_000;

/** The state of a deployment in memory. It is rebuilt after a restart. */
export interface SizingState {
  /** What was read within the last {@link MEASUREMENT_WINDOW_MS}. */
  scrapes: Scrape[];
  recent: readonly RecentSizes[];
  /** When the size last changed, by the monotonic clock. */
  changedAt: number;
  /** When a queue was last being worked off; undefined if none was. */
  drainedAt?: number;
  observedAt: number;
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

  /** Servers serve their metrics at this port, under the names of vLLM or SGLang unless `read` knows others. */
  constructor(fetchMetrics: FetchMetrics, port: number, read: ReadServerMetrics = readInferenceMetrics) {
    this.#fetch = fetchMetrics;
    this.#port = port;
    this.#read = read;
  }

  /** The state of an object, by its UID. */
  memory(uid: string, clock: Clock): SizingState {
    const now = clock.monotonic();
    for (const [key, { observedAt }] of this.#memories) if (now - observedAt > FORGOTTEN) this.#memories.delete(key);
    const memory = this.#memories.get(uid) ?? { scrapes: [], recent: [], changedAt: now, observedAt: now };
    memory.observedAt = now;
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
    const last = memory.scrapes.at(-1);
    if (!last || clock.monotonic() - last.at >= SCRAPE_PERIOD_MS) {
      const scrape = await this.#scrape(pods, clock);
      const since = scrape.at - MEASUREMENT_WINDOW_MS;
      // One scrape before the window's beginning is kept, so that it is measured as a whole.
      const begin = memory.scrapes.findLastIndex(({ at }) => at <= since);
      if (scrape.samples.size > 0) memory.scrapes = [...memory.scrapes.slice(Math.max(0, begin)), scrape];
    }
    return measuredOver(memory.scrapes, part);
  }

  /** The number of requests that wait at a gateway; 0 if it is not known. */
  async demand(url: string, clock: Clock): Promise<number> {
    const text = await scrapeMetrics(this.#fetch, url, clock);
    return text === undefined ? 0 : (this.#read(text)?.pending ?? 0);
  }

  async #scrape(pods: readonly Pod[], clock: Clock): Promise<Scrape> {
    const samples = new Map<string, ReplicaSample>();
    // Both clocks are read at once, so that the times of objects can be compared with those of scrapes.
    const offset = clock.monotonic() - clock.now();
    await Promise.all(
      pods.map(async (pod) => {
        const url = metricsUrl(pod, this.#port);
        const text = url && (await scrapeMetrics(this.#fetch, url, clock));
        const sample = text && this.#read(text);
        const created = Date.parse(pod.metadata.creationTimestamp ?? "");
        const createdAt = Number.isNaN(created) ? Number.NEGATIVE_INFINITY : created + offset;
        if (sample) samples.set(sampleKey(pod), { ...sample, createdAt });
      }),
    );
    return { at: clock.monotonic(), samples, serving: new Set(pods.map(sampleKey)) };
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
  { scrapes }: Pick<SizingState, "scrapes">,
  pods: readonly Pod[],
  part: number,
  period: "window" | "all" = "window",
): LoadMeasurement | undefined {
  const keys = new Set(pods.map(sampleKey));
  if (period === "all") {
    const newest = [...keys].flatMap(
      (key) => scrapes.findLast(({ samples }) => samples.has(key))?.samples.get(key) ?? [],
    );
    return scrapes.length > 0 ? measuredSinceStart(newest, part) : undefined;
  }
  const only = scrapes.map(({ at, samples, serving }) => ({
    at,
    samples: new Map([...samples].filter(([key]) => keys.has(key))),
    serving: new Set([...serving].filter((key) => keys.has(key))),
  }));
  return measuredOver(only, part);
}
