import { listMap, z } from "konverge";
import type { DeepReadonly } from "konverge/objects";

const time = () => z.iso.datetime().optional();
const count = () => z.int().min(0).optional();

/** What the operator reports of a job, the same in all versions. */
export const trainingJobStatus = z.object({
  phase: z.enum(["Pending", "Running", "Succeeded", "Failed"]).optional(),
  startTime: time().describe("When all workers ran for the first time since the job was created or resumed."),
  completionTime: time(),
  workers: count().describe("Number of worker pods."),
  active: count().describe("Number of running worker pods."),
  succeeded: count(),
  failed: count(),
  selector: z.string().optional(),
  attempt: count().describe("The number of the current gang, starting with 0."),
  restarts: count().describe("Number of restarts because a worker failed. A gang counts once."),
  disruptions: count().describe("Number of restarts because a worker was evicted, preempted or deleted."),
  workerStatuses: z
    .array(
      z.object({
        workerId: z.int(),
        podName: z.string().optional(),
        status: z.string().optional(),
        node: z.string().optional(),
        exitCode: z.int().optional(),
        message: z.string().optional(),
        step: z.int().optional(),
      }),
    )
    .check(listMap("workerId"))
    .optional(),
  finishedWorkers: z
    .array(z.object({ workerId: z.int(), podName: z.string(), finishedAt: time() }))
    .check(listMap("workerId"))
    .optional()
    .describe("Workers of the current gang that have succeeded. They count even if their pods are deleted."),
  failure: z
    .object({
      podName: z.string(),
      podUid: z.string(),
      workerId: z.int().optional(),
      attempt: z.int(),
      exitCode: z.int().optional(),
      signal: z.int().optional(),
      reason: z.string(),
      message: z.string().optional(),
      time: z.iso.datetime(),
    })
    .optional()
    .describe("The worker that failed first in the last gang; the others mostly fail as a consequence."),
  progress: z
    .object({
      percent: z.int().optional(),
      step: z.int(),
      totalSteps: z.int().optional(),
      epoch: z.int().optional(),
      stepsPerSecond: z.number().optional(),
      estimatedCompletionTime: time(),
      reportedAt: z.iso.datetime(),
      metrics: z.record(z.string(), z.number()).optional(),
    })
    .optional()
    .describe("What workers report in their output."),
  stragglers: z.array(z.int()).optional().describe("Workers that are far behind the others."),
  lastCheckpoint: z.object({ path: z.string(), step: z.int().optional(), reportedAt: z.iso.datetime() }).optional(),
  podGroup: z
    .object({ scheduler: z.string(), name: z.string() })
    .optional()
    .describe("The object that groups the workers for the scheduler."),
});

/** What the operator reports of a job. */
export type TrainingJobStatus = DeepReadonly<z.infer<typeof trainingJobStatus>>;
export type WorkerStatus = NonNullable<TrainingJobStatus["workerStatuses"]>[number];
export type FinishedWorker = NonNullable<TrainingJobStatus["finishedWorkers"]>[number];
export type Failure = NonNullable<TrainingJobStatus["failure"]>;
export type Progress = NonNullable<TrainingJobStatus["progress"]>;
