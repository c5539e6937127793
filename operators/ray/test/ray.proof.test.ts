import { exactRole, survivesCrashes } from "@konverge/operator-suite";
import { rayOperator } from "@konverge/ray-operator";
import type { AnyObject } from "konverge";
import { cluster, lives, replaced } from "./scenarios.ts";

survivesCrashes("a cluster is made, whenever the operator dies", rayOperator, cluster, {
  mask: withoutAddresses,
});
exactRole(rayOperator, [cluster, lives, replaced]);

/** Which node a pod lands on, and so its address, is the scheduler's choice. */
function withoutAddresses(object: AnyObject): AnyObject {
  const { head: _, ...status } = (object["status"] ?? {}) as Record<string, unknown>;
  return object.kind === "RayCluster" ? { ...object, status } : object;
}
