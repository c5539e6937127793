import { operator } from "konverge";
import { rayAdmission, rayJobAdmission } from "./ray-admission.ts";
import { RayCluster } from "./ray-cluster.ts";
import { rayClusters } from "./ray-controller.ts";
import { RayJob } from "./ray-job.ts";
import { rayJobs } from "./ray-job-controller.ts";

/** Everything of this package in one: what `konverge run`, `install` and `deploy` take. */
export const rayOperator = operator({
  name: "ray-operator",
  description: "Runs Ray clusters, a head and groups of workers that join it, and jobs on dedicated clusters.",
  kinds: [RayCluster, RayJob],
  create: () => ({ controllers: [rayClusters(), rayJobs()], admissions: [rayAdmission(), rayJobAdmission()] }),
});
