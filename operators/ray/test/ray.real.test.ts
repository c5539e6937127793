import { onEmptyCluster, onReal } from "@konverge/operator-suite";
import { rayOperator } from "@konverge/ray-operator";
import { autoscaled, switchedOff } from "./autoscaling-scenarios.ts";
import { badClusters, withoutNodes } from "./bad-input.ts";
import { badJobs, jobRuns } from "./job-scenarios.ts";
import { badInput, cluster, lives } from "./scenarios.ts";

onReal(
  {
    "a head, its Service and workers, as upstream makes them": cluster,
    "workers are repaired, scaled, deleted by name, suspended": lives,
    "workers come and go as Ray's own autoscaler decides": autoscaled,
    "a cluster whose autoscaler is switched off is its user's again": switchedOff,
    "bad input is refused or reported, and recovers when mended": badInput,
    "a job runs on a dedicated cluster, which is deleted when its time is over": jobRuns,
    "jobs that could never run are refused": badJobs,
    ...badClusters,
    "no nodes": onEmptyCluster(withoutNodes),
  },
  { role: rayOperator },
);
