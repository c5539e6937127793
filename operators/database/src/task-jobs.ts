import { isAlreadyExists, ownerReference, PermanentError, type ReconcileContext } from "konverge";
import { Job, Pod } from "konverge/kinds";
import { isControlledBy } from "konverge/objects";
import type { DatabaseBackup } from "./database-backup.ts";
import type { DatabaseRestore } from "./database-restore.ts";
import type { DatabaseUpgrade } from "./database-upgrade.ts";
import { type TaskReport, taskReport } from "./task-report.ts";

type Owner = DatabaseBackup | DatabaseRestore | DatabaseUpgrade;

/** Starts a Job that belongs to an object, once: one that is there already is left as it is. */
export async function startJob(
  kind: Parameters<typeof ownerReference>[0],
  owner: Owner,
  job: Job,
  { client }: ReconcileContext,
): Promise<void> {
  const { name, namespace } = job.metadata;
  const metadata = { ...job.metadata, ownerReferences: [ownerReference(kind, owner)] };
  try {
    // Direct write: a restore is undone by a Job while it is being deleted, and a scheduled backup reports the Job of a
    // CronJob: neither can be a child.
    await client.create(Job, { ...job, metadata });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const known = await client.get(Job, `${namespace}/${name}`);
    if (isControlledBy(known, owner)) return;
    throw new PermanentError(
      "NameTaken",
      `there is a Job ${name} that does not belong to this ${owner.kind}: give the object another name`,
    );
  }
}

/**
 * The report of a finished Job's pods. The cache may show them later than the end of the Job. If they are deleted, the
 * report is empty.
 */
export async function reportOf(job: Job, { cache, client }: ReconcileContext): Promise<TaskReport> {
  const { namespace, uid } = job.metadata;
  const isOfJob = (pod: Pod) => isControlledBy(pod, { metadata: { uid } });
  const hasEnded = ({ status }: Pod) => status?.phase === "Succeeded" || status?.phase === "Failed";
  const known = cache.list(Pod, namespace).filter(isOfJob);
  if (known.some(hasEnded)) return taskReport(known);
  const { items } = await client.list(Pod, {
    namespace,
    labelSelector: `batch.kubernetes.io/controller-uid=${uid}`,
  });
  return taskReport(items.filter(isOfJob));
}
