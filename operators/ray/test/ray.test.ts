import { exactRole, onEmbedded, survivesCrashes } from "@konverge/operator-suite";
import { rayOperator } from "@konverge/ray-operator";
import type { AnyObject } from "konverge";
import { badInput, cluster, lives, replaced } from "./scenarios.ts";

onEmbedded("a head, its Service and workers, as upstream makes them", cluster);
onEmbedded("workers are repaired, scaled, deleted by name, suspended", lives);
onEmbedded("pods that ended or are outdated are replaced", replaced);
onEmbedded("bad input is refused or reported, and recovers when mended", badInput);
survivesCrashes("a cluster is made, whenever the operator dies", rayOperator, cluster, {
  every: 4,
  mask: withoutAddresses,
});
exactRole(rayOperator, [cluster, lives, replaced]);

/** Which node a pod lands on, and so its address, is the scheduler's choice. */
function withoutAddresses(object: AnyObject): AnyObject {
  const { head: _, ...status } = (object["status"] ?? {}) as Record<string, unknown>;
  return object.kind === "RayCluster" ? { ...object, status } : object;
}
