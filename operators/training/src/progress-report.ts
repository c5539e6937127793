/** What one worker says of its progress. */
export interface ProgressReport {
  readonly step: number;
  readonly totalSteps?: number;
  readonly epoch?: number;
  /** The path of a checkpoint that is complete. */
  readonly checkpoint?: string;
  /** The step of the line that named it, which is not always the newest line. */
  readonly checkpointStep?: number;
  readonly metrics?: Readonly<Record<string, number>>;
}

/** What a line of progress begins with. */
export const PROGRESS_MARK = "@progress ";

/**
 * Reads a line of a worker's output. Progress is a line that begins with `@progress`, followed by a JSON object:
 *
 *     @progress {"step": 120, "totalSteps": 1000, "epoch": 2, "checkpoint": "/checkpoints/120", "metrics": {"loss": 0.41}}
 *
 * Only `step` must be there. Anything else, or what cannot be read, is no progress: workers write what they like.
 */
export function parseProgress(line: string): ProgressReport | undefined {
  const at = line.indexOf(PROGRESS_MARK);
  if (at < 0 || line.slice(0, at).trim() !== "") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line.slice(at + PROGRESS_MARK.length));
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { step, totalSteps, epoch, checkpoint, metrics } = value as Record<string, unknown>;
  if (!isCount(step)) return undefined;
  return {
    step,
    ...(isCount(totalSteps) && { totalSteps }),
    ...(isCount(epoch) && { epoch }),
    ...(typeof checkpoint === "string" && checkpoint !== "" && { checkpoint, checkpointStep: step }),
    ...(typeof metrics === "object" && metrics !== null && { metrics: numbersOf(metrics) }),
  };
}

/** The newest report of a log, with the newest checkpoint that any of its lines reports. */
export function latestProgress(lines: Iterable<string>): ProgressReport | undefined {
  let latest: ProgressReport | undefined;
  for (const line of lines) {
    const report = parseProgress(line);
    if (!report) continue;
    const { checkpoint, checkpointStep } = report.checkpoint ? report : (latest ?? {});
    latest = { ...report, ...(checkpoint && { checkpoint, checkpointStep }) };
  }
  return latest;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

const MOST_METRICS = 20;

function numbersOf(metrics: object): Record<string, number> {
  const numbers = Object.entries(metrics).filter(([, value]) => typeof value === "number" && Number.isFinite(value));
  return Object.fromEntries(numbers.slice(0, MOST_METRICS));
}
