import type { ReconcileContext } from "konverge";
import { type Affinity, PersistentVolumeClaim } from "konverge/kinds";
import { claimSharing, sameNodeAffinity, type WorkloadProblem } from "konverge/pods";
import { checkpointClaimFor } from "./checkpoint-claim.ts";
import { ATTEMPT_LABEL, JOB_LABEL } from "./names.ts";
import type { TrainingJob } from "./training-job.ts";

/** The names of claims that a job uses without making them. */
export function namedClaims({ spec }: Pick<TrainingJob, "spec">): string[] {
  const { dataVolume, checkpointDir, checkpointVolume } = spec;
  const checkpoints = checkpointDir ? checkpointVolume?.claimName : undefined;
  return [...(dataVolume ? [dataVolume.claimName] : []), ...(checkpoints ? [checkpoints] : [])];
}

/** Where pods must run to share the job's claims, or why they cannot. */
export interface SharedClaims {
  readonly affinity?: Affinity;
  readonly problem?: WorkloadProblem;
}

/**
 * Several pods share a claim that is attached to one node at a time (ReadWriteOnce) only on that node. The pods of an
 * earlier attempt do not count, so that a gang never follows one that is stuck on a lost node.
 */
export function sharedClaims(job: TrainingJob, { cache }: Pick<ReconcileContext, "cache">): SharedClaims {
  const { metadata, spec, status } = job;
  const own = checkpointClaimFor(job);
  const claims = own ? [cache.get(PersistentVolumeClaim, `${metadata.namespace}/${own.metadata.name}`) ?? own] : [];
  for (const name of namedClaims(job)) {
    const claim = cache.get(PersistentVolumeClaim, `${metadata.namespace}/${name}`);
    if (!claim) {
      return { problem: { reason: "ClaimNotFound", message: `the claim ${name} does not exist: create it` } };
    }
    claims.push(claim);
  }
  const pods = Math.max(spec.workers, spec.elastic?.maxWorkers ?? 0) + (spec.parameterServers?.count ?? 0);
  if (pods < 2) return {};
  const alone = claims.find((claim) => claimSharing(claim) === "one-pod");
  if (alone) {
    const message = `the claim ${alone.metadata.name} is ReadWriteOncePod, and ${pods} pods share it: use ReadWriteMany`;
    return { problem: { reason: "ClaimNotShareable", message } };
  }
  if (!claims.some((claim) => claimSharing(claim) === "one-node")) return {};
  return {
    affinity: sameNodeAffinity({ [JOB_LABEL]: metadata.name, [ATTEMPT_LABEL]: String(status?.attempt ?? 0) }),
  };
}
