import { operator } from "konverge";
import { rayAdmission } from "./ray-admission.ts";
import { RayCluster } from "./ray-cluster.ts";
import { rayClusters } from "./ray-controller.ts";

/** Everything of this package in one: what `konverge run`, `install` and `deploy` take. */
export const rayOperator = operator({
  name: "ray-operator",
  description: "Runs Ray clusters: a head, and groups of workers that join it.",
  kinds: [RayCluster],
  create: () => ({ controllers: [rayClusters()], admissions: [rayAdmission()] }),
});
