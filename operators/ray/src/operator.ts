import { type Operator, operator } from "konverge";
import { grantsOnly } from "konverge/rbac";
import { dashboardFetch } from "./dashboard-fetch.ts";
import type { RayFetch } from "./dashboard-request.ts";
import { rayAdmission, rayCronJobAdmission, rayJobAdmission, rayServiceAdmission } from "./ray-admission.ts";
import { AUTOSCALER_RULES } from "./ray-autoscaler.ts";
import { RayCluster } from "./ray-cluster.ts";
import { rayClusters } from "./ray-controller.ts";
import { RayCronJob } from "./ray-cron-job.ts";
import { rayCronJobs } from "./ray-cron-job-controller.ts";
import { RayJob } from "./ray-job.ts";
import { rayJobs } from "./ray-job-controller.ts";
import { RayMetrics } from "./ray-metrics.ts";
import { RayService } from "./ray-service.ts";
import { rayServices } from "./ray-service-controller.ts";

/** The operator with another way to the dashboards of clusters: for tests, and for networks that need one. */
export const rayOperatorWith = (fetch: RayFetch): Operator =>
  operator({
    name: "ray-operator",
    description:
      "Runs Ray clusters, a head and groups of workers that join it, and jobs, schedules of jobs and services on dedicated clusters.",
    kinds: [RayCluster, RayJob, RayService, RayCronJob],
    connectsToPods: true,
    guards: grantsOnly(AUTOSCALER_RULES, "what an autoscaler needs: to read pods, and to change RayClusters"),
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
          rayJobs(metrics, fetch),
          rayServices(metrics, fetch),
          rayCronJobs(),
        ],
        admissions: [rayAdmission(), rayJobAdmission(), rayServiceAdmission(), rayCronJobAdmission()],
      };
    },
  });

/** Everything of this package in one: what `konverge run`, `install` and `deploy` take. */
export const rayOperator = rayOperatorWith(dashboardFetch);
