import { type KubeObject, PermanentError, type ReconcileContext, type WatchedKind, watchKind } from "konverge";
import { PersistentVolumeClaim } from "konverge/kinds";
import { claimSharing } from "konverge/pods";
import { claimsOf } from "./inference-server.ts";
import type { ServingSpec } from "./serving-spec.ts";

type Served = KubeObject & { readonly spec: ServingSpec };

/** The claims that the servers of a kind's objects mount. */
export function servedClaims<T extends Served>(): WatchedKind<T> {
  return watchKind<PersistentVolumeClaim, T>(PersistentVolumeClaim, {
    references: ({ metadata, spec }) => claimsOf(spec).map((name) => `${metadata.namespace}/${name}`),
  });
}

/**
 * Whether the servers must run on one node, since one of their claims cannot be mounted on several. Throws if there can be
 * several servers: they would be on different nodes, and all but the first would wait for the volume forever.
 */
export function isBoundToNode(
  { metadata, spec }: Served,
  mostReplicas: number,
  { cache }: Pick<ReconcileContext, "cache">,
): boolean {
  const claims = claimsOf(spec).flatMap(
    (name) => cache.get(PersistentVolumeClaim, `${metadata.namespace}/${name}`) ?? [],
  );
  const bound = claims.find((claim) => claimSharing(claim) !== "any-node");
  if (!bound) return false;
  if (mostReplicas <= 1) return true;
  const modes = bound.spec?.accessModes?.join(", ");
  throw new PermanentError(
    "ClaimNotShareable",
    `the claim ${bound.metadata.name} is ${modes}, and up to ${mostReplicas} replicas share it: use ReadWriteMany, or one replica`,
  );
}
