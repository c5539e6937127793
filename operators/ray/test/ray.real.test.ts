import { onEmptyCluster, onReal } from "@konverge/operator-suite";
import { rayOperator } from "@konverge/ray-operator";
import { autoscaled, switchedOff } from "./autoscaling-scenarios.ts";
import { badClusters, withoutNodes } from "./bad-input.ts";
import { scheduledOnce } from "./cron-job-scenarios.ts";
import { badRedis, faultTolerant } from "./fault-tolerance-scenarios.ts";
import { jobDeletesItself } from "./job-mode-scenarios.ts";
import { badJobs, jobRuns } from "./job-scenarios.ts";
import { badInput, cluster, lives } from "./scenarios.ts";
import { secured } from "./security-scenarios.ts";
import { badServices, serviceRuns, serviceUpgraded } from "./service-scenarios.ts";

onReal(
  {
    "a head, its Service and workers, as upstream makes them": cluster,
    "workers are repaired, scaled, deleted by name, suspended": lives,
    "workers are added and removed as Ray's own autoscaler decides": autoscaled,
    "a cluster whose autoscaler is switched off is its user's again": switchedOff,
    "bad input is refused or reported, and works when it is fixed": badInput,
    "a job runs on a dedicated cluster, which is deleted when its time is over": jobRuns,
    "jobs that could never run are refused": badJobs,
    "workers outlive a head whose state is in Redis; its keys are removed with the cluster": faultTolerant,
    "Redis is configured in one place": badRedis,
    "a service's applications are sent to its cluster; a change of them is deployed in place": serviceRuns,
    "a service's cluster is replaced without downtime": serviceUpgraded,
    "services that could never serve are refused": badServices,
    "a cluster gets a token, which stays, and policies, which go with the field": secured,
    "a job deletes itself when its time is over": jobDeletesItself,
    "a job starts on a schedule, and goes with it": scheduledOnce,
    ...badClusters,
    "no nodes": onEmptyCluster(withoutNodes),
  },
  { role: rayOperator },
);
