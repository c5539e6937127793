import { PersistentVolumeClaim } from "konverge/kinds";
import { checkpointClaimName, labelsOf } from "./names.ts";
import type { TrainingJob } from "./training-job.ts";

/**
 * The claim that is made for the job's checkpoints; undefined if it names one, or has none. It has no owner: checkpoints
 * outlive the job unless it says otherwise, and a job of the same name goes on where the last one stopped.
 */
export function checkpointClaimFor(job: TrainingJob) {
  const { checkpointVolume, workers, elastic, parameterServers } = job.spec;
  if (checkpointVolume?.size === undefined) return undefined;
  const { size, storageClassName, accessMode } = checkpointVolume;
  const isShared = Math.max(workers, elastic?.maxWorkers ?? 0) + (parameterServers?.count ?? 0) > 1;
  return PersistentVolumeClaim.draft({
    metadata: { name: checkpointClaimName(job), namespace: job.metadata.namespace, labels: labelsOf(job) },
    spec: {
      accessModes: [accessMode ?? (isShared ? "ReadWriteMany" : "ReadWriteOnce")],
      ...(storageClassName && { storageClassName }),
      resources: { requests: { storage: String(size) } },
    },
  });
}
