import type { ProgressReport } from "./progress-report.ts";
import type { Progress, TrainingJobStatus } from "./training-job-status.ts";

/** The newest reports of workers, by their number. */
export type Reports = ReadonlyMap<number, ProgressReport>;

/** The weight of the newest measurement in the rate: a slow step should not send the estimate into next week. */
const NEWEST = 0.5;

/**
 * How far the job is: as far as the worker that is furthest behind, since no step is done before all have done it.
 * The same object comes back when nothing new was reported, so that nothing is written.
 */
export function jobProgress(reports: Reports, before: Progress | undefined, now: number): Progress | undefined {
  const slowest = [...reports.values()].reduce<ProgressReport | undefined>(
    (least, one) => (least && least.step <= one.step ? least : one),
    undefined,
  );
  if (!slowest) return before;
  const { step, totalSteps, epoch, metrics } = slowest;
  if (before && before.step === step && before.totalSteps === totalSteps) return before;
  const rate = rateOf(step, before, now);
  const left = totalSteps === undefined ? undefined : Math.max(0, totalSteps - step);
  return {
    ...(totalSteps && { percent: Math.min(100, Math.floor((100 * step) / totalSteps)) }),
    step,
    ...(totalSteps !== undefined && { totalSteps }),
    ...(epoch !== undefined && { epoch }),
    ...(rate !== undefined && { stepsPerSecond: rate }),
    ...(rate !== undefined && left !== undefined && { estimatedCompletionTime: stamp(now + (1000 * left) / rate) }),
    reportedAt: stamp(now),
    ...(metrics && { metrics: { ...metrics } }),
  };
}

/** Steps per second since the last report, smoothed. A job that went back to a checkpoint starts again. */
function rateOf(step: number, before: Progress | undefined, now: number): number | undefined {
  if (!before || step <= before.step) return before?.stepsPerSecond;
  const seconds = (now - Date.parse(before.reportedAt)) / 1000;
  if (seconds <= 0) return before.stepsPerSecond;
  const measured = (step - before.step) / seconds;
  const smoothed =
    before.stepsPerSecond === undefined ? measured : NEWEST * measured + (1 - NEWEST) * before.stepsPerSecond;
  return Number(smoothed.toPrecision(4));
}

/** A worker is a straggler when it is behind the median by more than this part of it, and more than a step or two. */
const BEHIND = 0.2;
const LEAST_STEPS = 2;

/** Workers that are far behind the others. Two alone cannot say which of them is late. */
export function stragglersOf(reports: Reports): number[] {
  if (reports.size < 3) return [];
  const steps = [...reports.values()].map(({ step }) => step).sort((a, b) => a - b);
  const median = steps[Math.floor(steps.length / 2)]!;
  const least = median - Math.max(LEAST_STEPS, median * BEHIND);
  return [...reports]
    .filter(([, { step }]) => step < least)
    .map(([worker]) => worker)
    .sort((a, b) => a - b);
}

function stamp(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

/** A status with what workers have reported since. Without a report it stays as it is. */
export function withReports(status: TrainingJobStatus, reports: Reports, now: number): TrainingJobStatus {
  if (reports.size === 0) return status;
  const progress = jobProgress(reports, status.progress, now);
  const stragglers = stragglersOf(reports);
  const lastCheckpoint = checkpointOf(reports, status, now);
  const { stragglers: _, ...rest } = status;
  return {
    ...rest,
    ...(progress && { progress }),
    ...(stragglers.length > 0 && { stragglers }),
    ...(lastCheckpoint && { lastCheckpoint }),
  };
}

/**
 * The checkpoint that the worker with the lowest index reports: worker 0's, if all write one. A checkpoint that overwrites
 * the previous one has the same path, and another step.
 */
function checkpointOf(reports: Reports, { lastCheckpoint }: TrainingJobStatus, now: number) {
  const [, report] = [...reports].sort(([a], [b]) => a - b).find(([, { checkpoint }]) => checkpoint) ?? [];
  if (!report?.checkpoint) return lastCheckpoint;
  const { checkpoint: path, checkpointStep: step = report.step } = report;
  if (path === lastCheckpoint?.path && step === lastCheckpoint.step) return lastCheckpoint;
  return { path, step, reportedAt: stamp(now) };
}
