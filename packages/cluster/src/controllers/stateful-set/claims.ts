import {
  controllerOf,
  isAlreadyExists,
  isOwnedBy,
  type KubeObject,
  type OwnerReference,
  ownerReference,
} from "@konverge/core";
import { PersistentVolumeClaim, Pod, StatefulSet } from "@konverge/kinds";
import type { ReconcileContext } from "@konverge/runtime";
import { messageOf } from "../workloads/pod-control.ts";
import { claimName, isInRange, ordinalOf, wishesOf } from "./identity.ts";

/** The claims of the pod of a number, as they are now. */
function claimsOf({ cache }: ReconcileContext, set: StatefulSet, ordinal: number): PersistentVolumeClaim[] {
  return wishesOf(set).claims.flatMap(({ metadata }) => {
    const key = `${set.metadata.namespace}/${claimName(metadata!.name!, set, ordinal)}`;
    return cache.get(PersistentVolumeClaim, key) ?? [];
  });
}

/** A claim that is about to go with an earlier pod must be gone before the next pod comes. */
export function hasStaleClaims(context: ReconcileContext, set: StatefulSet, ordinal: number): boolean {
  if (wishesOf(set).retention.whenScaled !== "Delete") return false;
  return claimsOf(context, set, ordinal).some(({ metadata }) => {
    const pods = (metadata.ownerReferences ?? []).filter(({ kind }) => kind === "Pod");
    const key = `${set.metadata.namespace}/${set.metadata.name}-${ordinal}`;
    const pod = context.cache.get(Pod, key);
    return metadata.deletionTimestamp !== undefined || pods.some(({ uid }) => uid !== pod?.metadata.uid);
  });
}

/** Creates the claims that a pod needs. */
export async function createClaims(context: ReconcileContext, set: StatefulSet, ordinal: number): Promise<void> {
  const { client, cache, events } = context;
  const { namespace } = set.metadata;
  for (const template of wishesOf(set).claims) {
    const name = claimName(template.metadata!.name!, set, ordinal);
    if (cache.get(PersistentVolumeClaim, `${namespace}/${name}`)) continue;
    const { labels, annotations } = template.metadata!;
    const metadata = {
      name,
      namespace: namespace!,
      labels: { ...labels, ...set.spec?.selector.matchLabels },
      ...(annotations && { annotations }),
    };
    const about = `Pod ${set.metadata.name}-${ordinal} in StatefulSet ${set.metadata.name}`;
    try {
      // Direct writes: claims outlive the set unless its retention policy says otherwise.
      await client.create(PersistentVolumeClaim, { metadata, spec: template.spec! });
      events.normal("SuccessfulCreate", `Create Claim ${name} ${about} success`);
    } catch (error) {
      if (isAlreadyExists(error)) continue;
      events.warning("FailedCreate", `Create Claim ${name} for ${about} failed error: ${messageOf(error)}`);
      throw error;
    }
  }
}

/**
 * Sets the controller of the claims of a pod to the set, to the pod or to none, by the retention policy. A claim that another
 * object controls belongs to neither.
 */
export async function retainClaims(context: ReconcileContext, set: StatefulSet, pod: Pod): Promise<void> {
  const ordinal = ordinalOf(set, pod)!;
  const { whenDeleted = "Retain", whenScaled = "Retain" } = wishesOf(set).retention;
  const isCondemned = !isInRange(set, ordinal);
  for (const claim of claimsOf(context, set, ordinal)) {
    const controller = controllerOf(claim);
    const isForeign = controller && controller.uid !== set.metadata.uid && controller.uid !== pod.metadata.uid;
    const goesWithPod = !isForeign && whenScaled === "Delete" && isCondemned;
    const goesWithSet = !isForeign && whenDeleted === "Delete" && !goesWithPod;
    const isSettled = (owner: KubeObject, isWanted: boolean) =>
      isWanted ? controller?.uid === owner.metadata.uid : !isOwnedBy(claim, owner);
    if (isSettled(set, goesWithSet) && isSettled(pod, goesWithPod)) continue;
    const isOurs = (reference: OwnerReference) =>
      reference.uid === set.metadata.uid || reference.uid === pod.metadata.uid || isFormerPod(reference, pod);
    const others = (claim.metadata.ownerReferences ?? []).filter((reference) => !isOurs(reference));
    const owner: KubeObject | undefined = goesWithSet ? set : goesWithPod ? pod : undefined;
    const kind = goesWithSet ? StatefulSet : Pod;
    const ownerReferences = owner ? [...others, ownerReference(kind, owner)] : others;
    const metadata = { ...claim.metadata, ownerReferences };
    await context.client.update(PersistentVolumeClaim, { ...claim, metadata });
  }
}

const isFormerPod = ({ kind, name }: OwnerReference, pod: Pod): boolean => kind === "Pod" && name === pod.metadata.name;
