import { operator } from "konverge";
import { TrainingJob } from "./training-job.ts";
import { trainingJobAdmission } from "./training-job-admission.ts";
import { trainingJobs } from "./training-job-controller.ts";
import { TrainingMetrics } from "./training-metrics.ts";

/** Everything of this package in one: what `konverge run`, `install` and `deploy` take. */
export const trainingOperator = operator({
  name: "training-operator",
  description: "Trains models on several workers at once.",
  kinds: [TrainingJob],
  settings: [
    {
      flag: "gangScheduling",
      env: "GANG_SCHEDULING",
      default: "auto",
      description: "Gang scheduler: scheduler-plugins, volcano, none, or auto: the installed one.",
    },
  ],
  create: ({ metrics, settings }) => ({
    controllers: [
      trainingJobs({ metrics: new TrainingMetrics(metrics), gangScheduling: settings["gangScheduling"] ?? "auto" }),
    ],
    admissions: [trainingJobAdmission],
    conversions: [TrainingJob],
  }),
});
