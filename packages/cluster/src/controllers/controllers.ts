import type { Part } from "../parts/part.ts";
import { cronJobs } from "./cron-job/cron-job-controller.ts";
import { daemonSets } from "./daemon-set/daemon-set-controller.ts";
import { deployments } from "./deployment/deployment-controller.ts";
import { garbageCollector } from "./garbage-collector/garbage-collector.ts";
import { abandonedPods } from "./job/abandoned-pods.ts";
import { jobs } from "./job/job-controller.ts";
import { namespaces } from "./namespace/namespace-controller.ts";
import { replicaSets, replicationControllers } from "./replica-set.ts";
import { statefulSets } from "./stateful-set/stateful-set-controller.ts";
import { ttlAfterFinished } from "./ttl-after-finished.ts";

/** What kube-controller-manager does. */
export const CONTROLLERS: readonly Part[] = [
  garbageCollector,
  namespaces,
  deployments,
  replicaSets,
  replicationControllers,
  statefulSets,
  daemonSets,
  jobs,
  abandonedPods,
  cronJobs,
  ttlAfterFinished,
];
