import { ExternalError, isNotFound, ownerReference, type ReconcileContext } from "konverge";
import { CustomResourceDefinition } from "konverge/kinds";
import { gvkOf, templateHash } from "konverge/objects";
import { LEADER_WORKER_SET_CRD, LeaderWorkerSet } from "./component-children.ts";
import type { DynamoComponentDeployment } from "./component-deployment.ts";

/** What was applied last: it is applied again only if something else is wanted. */
const DIGEST = "nvidia.com/applied";
const LOOK_AGAIN = 60_000;

/**
 * Keeps the LeaderWorkerSet of a component, and gives it as it is. Its API may be installed later than this operator, so it
 * is neither watched nor among the children: it goes with its owner, and is looked at now and then.
 */
export async function keepLeaderWorkerSet(
  owner: DynamoComponentDeployment,
  wanted: LeaderWorkerSet,
  { cache, client }: Pick<ReconcileContext, "cache" | "client">,
): Promise<LeaderWorkerSet> {
  if (!cache.get(CustomResourceDefinition, LEADER_WORKER_SET_CRD)) {
    throw new ExternalError(
      "LeaderWorkerSetMissing",
      "spec.multinode needs the LeaderWorkerSet API (leaderworkerset.x-k8s.io), which is not installed",
      { requeueAfter: LOOK_AGAIN },
    );
  }
  const { name, namespace } = wanted.metadata;
  const digest = templateHash(wanted.spec);
  const live = await client.get(LeaderWorkerSet, `${namespace}/${name}`).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (live?.metadata.annotations?.[DIGEST] === digest) return live;
  const metadata = {
    ...wanted.metadata,
    annotations: { [DIGEST]: digest },
    ownerReferences: [ownerReference(gvkOf(owner), owner)],
  };
  return client.apply(LeaderWorkerSet, { ...wanted, metadata }, { force: true });
}
