import { findCondition, isForbidden, isInvalid, type ReconcileContext } from "konverge";
import { PersistentVolumeClaim } from "konverge/kinds";
import type { Database } from "./database.ts";
import { type StorageStep, storageStep } from "./storage.ts";

/** Lets all volumes grow; returns what is to be reported of them. */
export async function growVolumes(
  database: Database,
  size: string,
  claims: readonly PersistentVolumeClaim[],
  context: ReconcileContext,
): Promise<StorageStep> {
  const known = findCondition(database.status?.conditions, "StorageAsRequested");
  const steps: StorageStep[] = [];
  for (const claim of claims) {
    const step = storageStep(size, claim);
    steps.push(step.step === "grow" ? await growVolume(claim, step, known?.reason === "CannotGrow", context) : step);
  }
  return steps.find(({ step }) => step !== "none") ?? { step: "none" };
}

/** A refusal by the cluster is reported, and retried in the next reconcile. */
async function growVolume(
  { metadata }: PersistentVolumeClaim,
  step: Extract<StorageStep, { step: "grow" }>,
  isKnown: boolean,
  { client, events }: ReconcileContext,
): Promise<StorageStep> {
  const { from, to } = step;
  const patch = { merge: { spec: { resources: { requests: { storage: to } } } } };
  try {
    // Direct write: claims of a StatefulSet are its own children; only their size is the operator's.
    await client.patch(PersistentVolumeClaim, `${metadata.namespace}/${metadata.name}`, patch);
    events.normal("VolumeGrows", `the volume ${metadata.name} grows from ${from} to ${to}`);
    return step;
  } catch (error) {
    if (!isForbidden(error) && !isInvalid(error)) throw error;
    const message = `the volume ${metadata.name} cannot grow from ${from} to ${to}: ${(error as Error).message}`;
    if (!isKnown) events.warning("CannotGrow", message);
    return { step: "stuck", to, message };
  }
}
