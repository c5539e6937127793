import { PermanentError } from "konverge";
import { PersistentVolumeClaim } from "konverge/kinds";
import { parseQuantity } from "konverge/objects";
import { type ClaimSharing, claimSharing } from "konverge/pods";
import type { DynamoComponentDeployment } from "./component-deployment.ts";
import { claimName } from "./component-pod.ts";
import type { Service } from "./service-spec.ts";

/** What a graph or a service says about a claim that it brings with it. */
export type ClaimSpec = Pick<NonNullable<Service["pvc"]>, "volumeAccessMode" | "storageClass" | "size">;

/** Whether a service can have more than one pod for long. A rollout has two for a while, which can be on one node. */
export function hasSeveralPods({ multinode, autoscaling, replicas = 1 }: Service): boolean {
  return multinode !== undefined || (autoscaling?.enabled ?? false) || replicas > 1;
}

/**
 * The claim that services bring with them. Pods can be on any nodes only if the volume can. The access modes of a claim that
 * exists cannot be changed, and it can grow, but not shrink: the API server would reject it each time.
 */
export function claimFor(
  metadata: PersistentVolumeClaim["metadata"],
  pvc: ClaimSpec,
  { several, existing }: { several: boolean; existing: PersistentVolumeClaim | undefined },
) {
  const mode = pvc.volumeAccessMode ?? (several ? "ReadWriteMany" : "ReadWriteOnce");
  return PersistentVolumeClaim.draft({
    metadata,
    spec: {
      accessModes: existing?.spec?.accessModes ?? [mode],
      ...(pvc.storageClass !== undefined && { storageClassName: pvc.storageClass }),
      resources: { requests: { storage: shrinks(pvc, existing)?.has ?? sizeOf(pvc) } },
    },
  });
}

/** Why a claim stays larger than its service requests, if it does. */
export function shrinkRefusal(pvc: ClaimSpec, existing: PersistentVolumeClaim | undefined): string | undefined {
  const { has, asked } = shrinks(pvc, existing) ?? {};
  return has && `the volume has ${has} and cannot shrink to ${asked}: it is unchanged`;
}

function shrinks(pvc: ClaimSpec, existing: PersistentVolumeClaim | undefined) {
  const has = existing?.spec?.resources?.requests?.["storage"];
  const asked = sizeOf(pvc);
  if (has === undefined || parseQuantity(asked).cmp(parseQuantity(has)) >= 0) return undefined;
  return { has: String(has), asked };
}

function sizeOf({ size = "10Gi" }: ClaimSpec): string {
  return String(size);
}

/** How pods can share the component's claim. Throws if they cannot. */
export function sharingOf(
  component: DynamoComponentDeployment,
  claim: Pick<PersistentVolumeClaim, "spec">,
): ClaimSharing {
  const sharing = claimSharing(claim);
  const { multinode } = component.spec;
  const isEnough = sharing === "any-node" || (sharing === "one-node" && !multinode) || !hasSeveralPods(component.spec);
  if (isEnough) return sharing;
  const needed = multinode ? "pods on several nodes need ReadWriteMany" : "several pods need ReadWriteMany";
  const modes = claim.spec?.accessModes?.join(", ");
  throw new PermanentError("ClaimNotShareable", `the claim ${claimName(component)} is ${modes}: ${needed}`);
}
