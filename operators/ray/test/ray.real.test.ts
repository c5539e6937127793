import { onReal } from "@konverge/operator-suite";
import { autoscaled } from "./autoscaling-scenarios.ts";
import { badClusters } from "./bad-input.ts";
import { badInput, cluster, lives } from "./scenarios.ts";

onReal({
  "a head, its Service and workers, as upstream makes them": cluster,
  "workers are repaired, scaled, deleted by name, suspended": lives,
  "workers come and go as Ray's own autoscaler decides": autoscaled,
  "bad input is refused or reported, and recovers when mended": badInput,
  "a type of GPU that no node has": badClusters["a type of GPU that no node has"]!,
});
