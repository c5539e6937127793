import type { LatencyIndicator, MissedObjective } from "konverge/sizing";
import { formatDurationMs } from "konverge/time";

const WORDS: Readonly<Record<LatencyIndicator, string>> = {
  requestLatency: "latency",
  timeToFirstToken: "time to first token",
  interTokenLatency: "inter-token latency",
  queueTime: "queue time",
};

/** The name of an objective in a sentence. */
export function indicatorText(indicator: LatencyIndicator): string {
  return WORDS[indicator];
}

/** A time as it was requested. */
export function targetText(seconds: number): string {
  return formatDurationMs(Math.round(seconds * 1000));
}

/** A measured time in whole milliseconds, with two digits that count. */
export function timeText(seconds: number): string {
  return formatDurationMs(Math.max(1, Math.round(Number((seconds * 1000).toPrecision(2)))));
}

/** Which objectives are missed, and by how much, the worst first. */
export function missedText(missed: readonly MissedObjective[], percentile: number): string {
  return [...missed]
    .sort((a, b) => b.measured / b.max - a.measured / a.max)
    .map(({ indicator, measured, max }) => {
      const excess = Math.max(1, Math.round((measured / max - 1) * 100));
      return `the ${percentile}th percentile of the ${indicatorText(indicator)} is ${timeText(measured)}, ${excess}% above ${targetText(max)}`;
    })
    .join("; ");
}
