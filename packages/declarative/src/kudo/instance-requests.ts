/** What the controller of instances writes into their specs. */
import { type AnyObject, type KindRef, keyOf } from "@konverge/core";
import type { ReconcileContext } from "@konverge/runtime";
import { Instance } from "./kudo-kinds.ts";

/** Of an instance that KUDO's own controller has made. */
const FORMER_FINALIZER = "kudo.dev.instance.cleanup";

/** Removes the finalizer of KUDO's own controller, which this one replaces by its own. */
export async function hasBeenReleased(instance: Instance, { client }: ReconcileContext): Promise<boolean> {
  const { finalizers = [], resourceVersion } = instance.metadata;
  if (!finalizers.includes(FORMER_FINALIZER)) return false;
  const kept = finalizers.filter((one) => one !== FORMER_FINALIZER);
  // Direct write: the controller that it belongs to does not run any more.
  const merge = { metadata: { resourceVersion, finalizers: kept } };
  await client.patch(Instance as KindRef<AnyObject>, keyOf(instance), { merge } as never);
  return true;
}

/** A plan is due: it gets an ID, as from KUDO's admission. */
export async function requestPlan(
  instance: Instance,
  { plan, parameters }: { plan: string; parameters?: Readonly<Record<string, string>> },
  context: ReconcileContext,
): Promise<void> {
  const uid = context.clock.random.uuid();
  await patchExecution(instance, { planName: plan, uid, status: "NEVER_RUN" }, context, parameters);
}

/** Direct write: what an instance runs is in its spec, as in KUDO. Not if it has changed since. */
export async function patchExecution(
  instance: Instance,
  planExecution: object | null,
  { client }: ReconcileContext,
  parameters?: Readonly<Record<string, string>>,
): Promise<void> {
  const { resourceVersion } = instance.metadata;
  const merge = { metadata: { resourceVersion }, spec: { planExecution, ...(parameters && { parameters }) } };
  await client.patch(Instance as KindRef<AnyObject>, keyOf(instance), { merge } as never);
}
