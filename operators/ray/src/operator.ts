import { type Operator, operator } from "konverge";
import { dashboardFetch } from "./dashboard-fetch.ts";
import { rayAdmission, rayJobAdmission, rayServiceAdmission } from "./ray-admission.ts";
import { AUTOSCALER_RULES } from "./ray-autoscaler.ts";
import { RayCluster } from "./ray-cluster.ts";
import { rayClusters } from "./ray-controller.ts";
import { RayJob } from "./ray-job.ts";
import { rayJobs } from "./ray-job-controller.ts";
import { RayMetrics } from "./ray-metrics.ts";
import { RayService } from "./ray-service.ts";
import { rayServices } from "./ray-service-controller.ts";
import type { RayFetch } from "./serve-applications.ts";

/** The operator with another way to the dashboards of clusters: for tests, and for networks that need one. */
export const rayOperatorWith = (fetch: RayFetch): Operator =>
  operator({
    name: "ray-operator",
    description:
      "Runs Ray clusters, a head and groups of workers that join it, and jobs and services on dedicated clusters.",
    kinds: [RayCluster, RayJob, RayService],
    guards: [
      {
        resources: ["roles"],
        expression: `request.operation == "DELETE" || object.rules.all(rule, ${AUTOSCALER_RULES.map(ruleExpression).join(" || ")})`,
        limit: "grants only what an autoscaler needs: to read pods, and to change RayClusters",
      },
      {
        resources: ["rolebindings"],
        expression: `request.operation == "DELETE" || (object.roleRef.kind == "Role" && object.roleRef.name == object.metadata.name && object.subjects.all(subject, subject.kind == "ServiceAccount" && subject.namespace == object.metadata.namespace))`,
        limit: "binds only such roles, to service accounts of their namespace",
      },
    ],
    settings: [
      {
        flag: "redisCleanup",
        env: "ENABLE_GCS_FT_REDIS_CLEANUP",
        default: "true",
        description: "Whether the keys of a deleted cluster are removed from Redis.",
      },
    ],
    create({ settings, metrics: registry }) {
      const metrics = new RayMetrics(registry);
      return {
        controllers: [
          rayClusters(metrics, { redisCleanup: settings["redisCleanup"]?.toLowerCase() !== "false" }),
          rayJobs(metrics),
          rayServices(metrics, fetch),
        ],
        admissions: [rayAdmission(), rayJobAdmission(), rayServiceAdmission()],
      };
    },
  });

/** CEL that is true of a rule that grants no more than another. */
const ruleExpression = ({ apiGroups, resources, verbs }: Required<typeof AUTOSCALER_RULES>[number]) =>
  `(rule.apiGroups == ${JSON.stringify(apiGroups)} && rule.resources == ${JSON.stringify(resources)} && rule.verbs.all(verb, verb in ${JSON.stringify(verbs)}))`;

/** Everything of this package in one: what `konverge run`, `install` and `deploy` take. */
export const rayOperator = rayOperatorWith(dashboardFetch);
