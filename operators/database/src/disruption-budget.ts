import { PodDisruptionBudget } from "konverge/kinds";
import type { Database } from "./database.ts";
import type { Member } from "./leadership.ts";
import { labelsOf, metadataOf } from "./names.ts";

/** Milliseconds after which a server that is not ready no longer keeps others from being evicted. */
const PATIENCE = 5 * 60_000;

/** How many servers are not ready and will not be soon. */
export function brokenServers(members: readonly Member[], now: number): number {
  return members.filter(({ pod }) => pod?.unreadySince !== undefined && now - pod.unreadySince > PATIENCE).length;
}

/**
 * Nodes are drained one server at a time. A server that does not become ready is not waited for: otherwise it would block the drain
 * of every other server's node for as long as it is broken.
 */
export function disruptionBudgetFor(database: Database, broken: number) {
  if (database.spec.instances === 1) return [];
  return [
    PodDisruptionBudget.draft({
      metadata: metadataOf(database, database.metadata.name),
      spec: {
        maxUnavailable: 1 + broken,
        unhealthyPodEvictionPolicy: "AlwaysAllow",
        selector: { matchLabels: labelsOf(database) },
      },
    }),
  ];
}
