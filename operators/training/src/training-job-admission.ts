import { deepEqual } from "konverge/objects";
import { admissionWebhook } from "konverge/webhooks";
import { isFinished } from "./job-status.ts";
import { specProblems } from "./spec-problems.ts";
import { TrainingJob } from "./training-job.ts";

/** Judges TrainingJobs before they are stored. */
export const trainingJobAdmission = admissionWebhook(TrainingJob, {
  validate(job, { old, warn }) {
    // An update of something else, such as a finalizer, must not fail because of a spec that is older than these rules.
    if (job.metadata.deletionTimestamp || (old && deepEqual(old.spec, job.spec))) return [];
    if (job.spec.checkpointDir && !job.spec.checkpointVolume) {
      warn("spec.checkpointVolume is not set: checkpoints are lost when workers restart");
    }
    if (old && isFinished(old)) warn("the job is finished: changes to its spec have no effect");
    return specProblems(job);
  },
});
