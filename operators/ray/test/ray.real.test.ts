import { onEmptyCluster, onReal } from "@konverge/operator-suite";
import { rayOperator } from "@konverge/ray-operator";
import { autoscaled, switchedOff } from "./autoscaling-scenarios.ts";
import { badClusters, withoutNodes } from "./bad-input.ts";
import { badInput, cluster, lives } from "./scenarios.ts";

onReal(
  {
    "a head, its Service and workers, as upstream makes them": cluster,
    "workers are repaired, scaled, deleted by name, suspended": lives,
    "workers come and go as Ray's own autoscaler decides": autoscaled,
    "a cluster whose autoscaler is switched off is its user's again": switchedOff,
    "bad input is refused or reported, and recovers when mended": badInput,
    ...badClusters,
    "no nodes": onEmptyCluster(withoutNodes),
  },
  { role: rayOperator },
);
