import { type Controller, controller, keyOf, ownedKind, permission, type ReconcileContext, watchKind } from "konverge";
import { ConfigMap, PersistentVolumeClaim, Pod, Service } from "konverge/kinds";
import { watchGpuNodes } from "konverge/pods";
import { checkpointClaimFor } from "./checkpoint-claim.ts";
import { PLUGINS_SCHEDULER, POD_GROUPS } from "./gang-scheduler.ts";
import { JOB_LABEL } from "./names.ts";
import { type GangChoice, gangSchedulers } from "./pod-group.ts";
import { reconcileJob } from "./reconcile-job.ts";
import { namedClaims } from "./shared-claims.ts";
import type { Tools } from "./tools.ts";
import { TrainingJob } from "./training-job.ts";
import type { TrainingMetrics } from "./training-metrics.ts";
import { LogReader } from "./worker-logs.ts";

export const FINALIZER = "trainingjob.ml.example.com/finalizer";

export interface TrainingJobsOptions {
  readonly metrics: TrainingMetrics;
  /** Default: `auto`. */
  readonly gangScheduling?: GangChoice;
  /** The scheduler that reads PodGroups of the scheduler plugins. Default: as their chart calls it. */
  readonly gangSchedulerName?: string;
}

/**
 * Keeps the workers of each TrainingJob. Pods are created and deleted, never changed: what a new version of this operator would
 * write differently must not disturb a pod that trains. All else of a job is applied and repaired.
 */
export function trainingJobs(options: TrainingJobsOptions): Controller {
  const { metrics, gangScheduling = "auto", gangSchedulerName = PLUGINS_SCHEDULER } = options;
  const schedulers = gangSchedulers(gangScheduling, gangSchedulerName);
  const tools: Tools = { metrics, schedulers, logs: new LogReader() };
  return controller(TrainingJob, {
    owns: [Service, ConfigMap, ownedKind(Pod, { labelSelector: JOB_LABEL, createOnly: true })],
    watches: [
      watchGpuNodes(),
      watchKind(PersistentVolumeClaim, { labelSelector: JOB_LABEL, to: ({ metadata }) => jobOf(metadata) }),
      watchKind<PersistentVolumeClaim, TrainingJob>(PersistentVolumeClaim, {
        references: (job) => namedClaims(job).map((name) => `${job.metadata.namespace}/${name}`),
      }),
      watchKind(ConfigMap, {
        references: ({ metadata, spec }: TrainingJob) =>
          spec.hyperparametersFrom ? [`${metadata.namespace}/${spec.hyperparametersFrom.configMapName}`] : [],
      }),
    ],
    permissions: [
      permission(Pod, ["get"], {
        subresource: "log",
        why: "reads the progress of each TrainingJob from the log of its first pod",
      }),
      permission(PersistentVolumeClaim, ["create", "delete"], {
        why: "creates the volumes of each TrainingJob, and deletes those that are not kept",
      }),
      permission(TrainingJob, ["delete"]),
      ...Object.values(POD_GROUPS).map((kind) => permission(kind, ["get", "create", "patch", "delete"])),
    ],
    finalizer: FINALIZER,
    reconcile: (job, context) => reconcileJob(job, context, tools),
    cleanup: (job, context) => cleanup(job, context, tools),
  });
}

function jobOf({ namespace, labels }: { namespace?: string; labels?: Record<string, string> }): string[] {
  const name = labels?.[JOB_LABEL];
  return name ? [`${namespace}/${name}`] : [];
}

/**
 * Pods, Services and ConfigMaps are garbage-collected with the job, which owns them. Checkpoints are not: they are deleted
 * here, if the job says so.
 */
async function cleanup(job: TrainingJob, { cache, client, events }: ReconcileContext, tools: Tools) {
  tools.metrics.forget(keyOf(job), job);
  tools.logs.forget(job);
  const claim = checkpointClaimFor(job);
  if (!claim || job.spec.checkpointVolume?.onDelete !== "Delete") return undefined;
  const existing = cache.get(PersistentVolumeClaim, keyOf(claim));
  if (!existing || existing.metadata.deletionTimestamp) return undefined;
  // Direct write: the volume of checkpoints outlives its job, unless the user asks for its deletion.
  await client.delete(PersistentVolumeClaim, keyOf(existing), { preconditions: { uid: existing.metadata.uid! } });
  events.normal("CheckpointsDeleted", `Deleted the claim ${existing.metadata.name}`, { action: "Cleanup" });
  return undefined;
}
