import { isNotFound, keyOf } from "@konverge/core";
import { Pod, type PodTemplateSpec, type StatefulSet } from "@konverge/kinds";
import type { ReconcileContext } from "@konverge/runtime";
import { messageOf } from "../workloads/pod-control.ts";
import { isAvailable, isReady, isTerminal } from "../workloads/pod-state.ts";
import { createClaims, hasStaleClaims, retainClaims } from "./claims.ts";
import { hasIdentity, identityLabels, podFor, settingsOf } from "./identity.ts";

/** The pod with an ordinal: the existing one, or the template to create it from. */
export interface Place {
  ordinal: number;
  pod: Pod | undefined;
  template: PodTemplateSpec;
  revision: string;
}

export const isLeaving = (pod: Pod | undefined): boolean => pod?.metadata.deletionTimestamp !== undefined;
export const isRunningAndReady = (pod: Pod | undefined): boolean => pod?.status?.phase === "Running" && isReady(pod);

export function isRunningAndAvailable({ clock }: ReconcileContext, set: StatefulSet, pod: Pod | undefined): boolean {
  return isRunningAndReady(pod) && isAvailable(pod!, settingsOf(set).minReadySeconds, clock);
}

/** Brings one place to where it should be. False: the places after it have to wait. */
export async function attend(context: ReconcileContext, set: StatefulSet, place: Place): Promise<boolean> {
  const { isOrdered } = settingsOf(set);
  const { pod } = place;
  if (!pod) {
    if (hasStaleClaims(context, set, place.ordinal)) return false;
    await createPlace(context, set, place);
    return !isOrdered;
  }
  if (isTerminal(pod)) {
    if (!isLeaving(pod)) await deletePlace(context, set, pod);
    return false;
  }
  if (pod.status?.phase === "Pending") await createClaims(context, set, place.ordinal);
  if (isOrdered && (isLeaving(pod) || !isRunningAndAvailable(context, set, pod))) return false;
  await retainClaims(context, set, pod);
  if (!hasIdentity(set, pod) && !isLeaving(pod)) {
    // Direct writes: pods are created and deleted in the order of their numbers, one after the other.
    await context.client.patch(Pod, keyOf(pod), { merge: { metadata: { labels: identityLabels(set, pod) } } });
  }
  return true;
}

async function createPlace(
  context: ReconcileContext,
  set: StatefulSet,
  { ordinal, template, revision }: Place,
): Promise<void> {
  await createClaims(context, set, ordinal);
  const draft = podFor(set, template, revision, ordinal);
  const about = `Pod ${draft.metadata.name} in StatefulSet ${set.metadata.name}`;
  try {
    await context.client.create(Pod, draft);
    context.events.normal("SuccessfulCreate", `Create ${about} successful`);
  } catch (error) {
    context.events.warning("FailedCreate", `Create ${about} failed error: ${messageOf(error)}`);
    throw error;
  }
}

/** Deletes a pod of the set. */
export async function deletePlace({ client, events }: ReconcileContext, set: StatefulSet, pod: Pod): Promise<void> {
  const about = `Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
  try {
    await client.delete(Pod, keyOf(pod), { preconditions: { uid: pod.metadata.uid! } });
    events.normal("SuccessfulDelete", `Delete ${about} successful`);
  } catch (error) {
    if (isNotFound(error)) return;
    events.warning("FailedDelete", `Delete ${about} failed error: ${messageOf(error)}`);
    throw error;
  }
}
