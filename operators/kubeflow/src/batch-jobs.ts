import { isAlreadyExists, isNotFound, type KubeObject, keyOf, type ReconcileContext } from "konverge";
import { Job as BatchJob } from "konverge/kinds";
import { isControlledBy } from "konverge/objects";
import { podCreationProblem, type WorkloadProblem } from "konverge/pods";
import { OPERATOR_NAME } from "./names.ts";

/** How a Job has ended; undefined while it has not. */
export function endOf(job: BatchJob | undefined) {
  return job?.status?.conditions?.find(
    ({ type, status }) => status === "True" && (type === "Complete" || type === "Failed"),
  );
}

/** Creates a Job for its owner; what is in its way, if users can do something about it. */
export async function createJob(
  owner: KubeObject,
  draft: BatchJob,
  { client, events }: ReconcileContext,
): Promise<WorkloadProblem | undefined> {
  const { name } = draft.metadata;
  try {
    await client.create(BatchJob, draft);
  } catch (error) {
    const problem = isAlreadyExists(error)
      ? await takenName(owner, draft, client)
      : podCreationProblem(error, `job ${name}`);
    if (!problem && !isAlreadyExists(error)) throw error;
    return problem;
  }
  events.normal("SuccessfulCreateJob", `Created job: ${name}`);
  return undefined;
}

/** A Job that is there already. One that lost its labels is not found by them: it is replaced. Those of other owners are ignored. */
async function takenName(
  owner: KubeObject,
  draft: BatchJob,
  client: ReconcileContext["client"],
): Promise<WorkloadProblem | undefined> {
  try {
    const live = await client.get(BatchJob, keyOf(draft));
    if (!isControlledBy(live, owner)) {
      const message = `there is a job ${draft.metadata.name} that is not this job's: delete it, or give the job another name`;
      return { reason: "NameTaken", message };
    }
    const { uid, resourceVersion, labels, deletionTimestamp } = live.metadata;
    if (deletionTimestamp || labels?.[OPERATOR_NAME] === draft.metadata.labels?.[OPERATOR_NAME]) return undefined;
    const preconditions = { uid: uid!, resourceVersion: resourceVersion! };
    await client.delete(BatchJob, keyOf(draft), { preconditions, propagationPolicy: "Background" });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return { reason: "NameTaken", message: `the job ${draft.metadata.name} must be deleted before it can be recreated` };
}

/** Deletes a Job: this very one, not another that has its name by now. `Foreground`: its name is free when its pods are gone. */
export async function deleteJob(
  job: BatchJob | undefined,
  { client, events }: ReconcileContext,
  propagationPolicy: "Background" | "Foreground" = "Background",
): Promise<void> {
  if (!job || job.metadata.deletionTimestamp) return;
  try {
    await client.delete(BatchJob, keyOf(job), { preconditions: { uid: job.metadata.uid! }, propagationPolicy });
    events.normal("SuccessfulDeleteJob", `Deleted job: ${job.metadata.name}`);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
