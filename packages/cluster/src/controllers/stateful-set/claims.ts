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
import { claimName, isInRange, ordinalOf, settingsOf } from "./identity.ts";

/** The existing claims of the pod with this ordinal. */
function claimsOf({ cache }: ReconcileContext, set: StatefulSet, ordinal: number): PersistentVolumeClaim[] {
  return settingsOf(set).claims.flatMap(({ metadata }) => {
    const key = `${set.metadata.namespace}/${claimName(metadata!.name!, set, ordinal)}`;
    return cache.get(PersistentVolumeClaim, key) ?? [];
  });
}

/** Whether a claim is still being deleted with an earlier pod: the next pod must wait for that. */
export function hasStaleClaims(context: ReconcileContext, set: StatefulSet, ordinal: number): boolean {
  if (settingsOf(set).retention.whenScaled !== "Delete") return false;
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
  for (const template of settingsOf(set).claims) {
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
  const { whenDeleted = "Retain", whenScaled = "Retain" } = settingsOf(set).retention;
  const isCondemned = !isInRange(set, ordinal);
  for (const claim of claimsOf(context, set, ordinal)) {
    const controller = controllerOf(claim);
    const isForeign = controller && controller.uid !== set.metadata.uid && controller.uid !== pod.metadata.uid;
    const ownedByPod = !isForeign && whenScaled === "Delete" && isCondemned;
    const ownedBySet = !isForeign && whenDeleted === "Delete" && !ownedByPod;
    const isUpToDate = (owner: KubeObject, isWanted: boolean) =>
      isWanted ? controller?.uid === owner.metadata.uid : !isOwnedBy(claim, owner);
    if (isUpToDate(set, ownedBySet) && isUpToDate(pod, ownedByPod)) continue;
    const isOurs = (reference: OwnerReference) =>
      reference.uid === set.metadata.uid || reference.uid === pod.metadata.uid || isFormerPod(reference, pod);
    const others = (claim.metadata.ownerReferences ?? []).filter((reference) => !isOurs(reference));
    const owner: KubeObject | undefined = ownedBySet ? set : ownedByPod ? pod : undefined;
    const kind = ownedBySet ? StatefulSet : Pod;
    const ownerReferences = owner ? [...others, ownerReference(kind, owner)] : others;
    const metadata = { ...claim.metadata, ownerReferences };
    await context.client.update(PersistentVolumeClaim, { ...claim, metadata });
  }
}

const isFormerPod = ({ kind, name }: OwnerReference, pod: Pod): boolean => kind === "Pod" && name === pod.metadata.name;
