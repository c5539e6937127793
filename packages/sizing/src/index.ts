/**
 * How many replicas a promise about latency takes: for every operator of servers that queue requests.
 *
 * {@link LoadMonitor} reads the servers' metrics periodically and measures load and latency. {@link requiredReplicas}
 * turns load and service time, measured or declared, into the fewest replicas by a queueing model (`queueing.ts`) and
 * corrects that by the objectives that are missed all the same. {@link correctedSize} follows it upwards at once, and
 * downwards when fewer have been enough for a while; it remembers which load per replica an objective was missed with
 * (`learned-limits.ts`), so that a corrected size stays. What a process forgets when it dies is measured again; the caller keeps the size
 * itself.
 */
export * from "./corrected-size.ts";
export * from "./decide.ts";
export type { LearnedLimit, LearnedLimits } from "./learned-limits.ts";
export * from "./load-watch.ts";
export type { LoadMeasurement, PartOfRequest, ServerSample } from "./measurement.ts";
export {
  isMissed,
  type LatencyIndicator,
  type MissedObjective,
  type ObjectiveResult,
  type Objectives,
  objectiveResults,
  type TokenObjectives,
} from "./objectives.ts";
export * from "./queueing.ts";
export { type FetchMetrics, fetchMetricsText, metricsUrl, scrapeMetrics } from "./scrape.ts";
export { readInferenceMetrics, readSglangMetrics, readVllmMetrics } from "./server-metrics.ts";
