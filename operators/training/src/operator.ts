import { operator } from "konverge";
import { PLUGINS_SCHEDULER } from "./gang-scheduler.ts";
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
    {
      flag: "gangSchedulerName",
      env: "GANG_SCHEDULER_NAME",
      default: PLUGINS_SCHEDULER,
      description:
        "The scheduler with the coscheduling plugin, for workers in a PodGroup of the scheduler plugins. If the cluster's own has it: default-scheduler.",
    },
  ],
  create: ({ metrics, settings }) => ({
    controllers: [
      trainingJobs({
        metrics: new TrainingMetrics(metrics),
        gangScheduling: settings["gangScheduling"] ?? "auto",
        gangSchedulerName: settings["gangSchedulerName"] ?? PLUGINS_SCHEDULER,
      }),
    ],
    admissions: [trainingJobAdmission],
  }),
});
