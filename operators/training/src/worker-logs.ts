import { keyOf, type ReconcileContext } from "konverge";
import type { Client } from "konverge/client";
import type { Reports } from "./job-progress.ts";
import { CONTAINER } from "./names.ts";
import type { PodState } from "./pod-state.ts";
import { latestProgress, type ProgressReport } from "./progress-report.ts";
import type { TrainingJob } from "./training-job.ts";

/** As much of a log is read: enough for a few reports among other lines. */
const TAIL = { tailLines: 200, limitBytes: 256 * 1024 };
const PARALLEL = 8;
const TIMEOUT = 10_000;
/** A job's logs are not read more often, in milliseconds, however often its pods change. */
const PACE = 10_000;

/** Reads what workers say of their progress on their output. */
export class LogReader {
  readonly #read = new Map<string, number>();

  /** Reads the logs of workers, unless that was done a moment ago. */
  async read(job: TrainingJob, pods: readonly PodState[], context: ReconcileContext): Promise<Reports> {
    const now = context.clock.monotonic();
    if (now - (this.#read.get(job.metadata.uid!) ?? Number.NEGATIVE_INFINITY) < PACE) return new Map();
    this.#read.set(job.metadata.uid!, now);
    return readReports(context.client, pods, context.signal);
  }

  /** Reads them regardless of the interval: for the final output of a gang. */
  readNow(pods: readonly PodState[], { client, signal }: ReconcileContext): Promise<Reports> {
    return readReports(client, pods, signal);
  }

  forget({ metadata }: TrainingJob): void {
    this.#read.delete(metadata.uid!);
  }
}

async function readReports(client: Client, pods: readonly PodState[], signal: AbortSignal): Promise<Reports> {
  const reports = new Map<number, ProgressReport>();
  const queue = pods.filter(({ role, state }) => role === "worker" && state !== "Pending");
  const work = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const report = await readReport(client, next, signal);
      if (report) reports.set(next.index, report);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return reports;
}

/** A log that cannot be read says nothing: the job goes on. */
async function readReport(client: Client, { pod }: PodState, signal: AbortSignal): Promise<ProgressReport | undefined> {
  const lines: string[] = [];
  try {
    for await (const line of client.logs(keyOf(pod), { container: CONTAINER, ...TAIL, signal, timeout: TIMEOUT })) {
      lines.push(line);
    }
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
  return latestProgress(lines);
}
