import type { FieldError } from "konverge";
import { deepEqual } from "konverge/objects";
import { type AdmissionWebhook, admissionWebhook, fieldForbidden } from "konverge/webhooks";
import type { Framework } from "./framework.ts";
import type { JobObject } from "./job.ts";
import type { MXJob } from "./mx-job.ts";
import type { PyTorchJob } from "./pytorch-job.ts";
import { type Rules, specProblems } from "./spec-problems.ts";
import type { TFJob } from "./tf-job.ts";
import type { XGBoostJob } from "./xgboost-job.ts";

/** What is wrong with a job of one kind, and what is worth a warning. */
export interface JobRules<T extends JobObject> {
  problems(job: T): FieldError[];
  warnings?(job: T): string[];
}

const rulesOf = <T extends JobObject>(framework: Framework<T>, rules: Rules): JobRules<T> => ({
  problems: (job) => specProblems(job, framework, rules),
});

/** A PyTorchJob has at most one master, and says once how many processes a pod has. */
export function pytorchRules(framework: Framework<PyTorchJob>): JobRules<PyTorchJob> {
  const [old, now] = ["spec.elasticPolicy.nProcPerNode", "spec.nprocPerNode"];
  const rules: Rules = { onlyKnownTypes: true, single: { type: "Master" } };
  const isOld = ({ spec }: PyTorchJob) => spec.elasticPolicy?.nProcPerNode !== undefined;
  return {
    problems: (job) => [
      ...(isOld(job) && job.spec.nprocPerNode !== undefined
        ? [fieldForbidden(old, `must not be used with ${now}`)]
        : []),
      ...specProblems(job, framework, rules),
    ],
    warnings: (job) => (isOld(job) ? [`${old} is deprecated, use ${now} instead`] : []),
  };
}

/** A TFJob has a chief or a master, not both. */
export const tensorflowRules = (framework: Framework<TFJob>): JobRules<TFJob> =>
  rulesOf(framework, {
    exclusive: { types: ["Chief", "Master"], message: "must not have more than 1 Chief or Master role" },
  });

/** An XGBoostJob has one master. */
export const xgboostRules = (framework: Framework<XGBoostJob>): JobRules<XGBoostJob> =>
  rulesOf(framework, { onlyKnownTypes: true, single: { type: "Master", required: true } });

/** An MXJob is what MXNet has left: the project has ended. */
export const mxnetRules = (framework: Framework<MXJob>): JobRules<MXJob> => ({
  ...rulesOf(framework, {}),
  warnings: () => ["MXJob is deprecated: MXNet is no longer developed"],
});

/** Refuses jobs that could never run. */
export function jobAdmission<T extends JobObject>({ kind }: Framework<T>, rules: JobRules<T>): AdmissionWebhook {
  return admissionWebhook(kind, {
    validate(job, { old, warn }) {
      // An update of something else, such as a label, must not fail because of a spec that is older than these rules.
      if (job.metadata.deletionTimestamp || (old && deepEqual(old.spec, job.spec))) return [];
      for (const warning of rules.warnings?.(job) ?? []) warn(warning);
      return rules.problems(job);
    },
  });
}
