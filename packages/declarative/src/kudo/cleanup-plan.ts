/** The plan that runs before an instance is deleted. */
import { type AnyObject, type KindRef, keyOf, timestamp } from "@konverge/core";
import type { PendingCleanup, ReconcileContext } from "@konverge/runtime";
import { DesiredObjects } from "./desired-objects.ts";
import { Instance, OperatorVersion, operatorVersionKey } from "./kudo-kinds.ts";
import { initializedPlans, isTerminal, startedPlan } from "./plan-status.ts";
import { runPlan } from "./run-plan.ts";
import { TaskRun } from "./run-task.ts";
import { CLEANUP } from "./schedule-plan.ts";
import type { TaskDrafts } from "./task-drafts.ts";
import { directWorld } from "./task-worlds.ts";

const PERIOD = 2_000;
const AFTER_FAILURE = 5 * 60_000;

/** A plan that fails keeps the instance, so that someone can look: without the finalizer, it is deleted nevertheless. */
export async function runCleanup(
  instance: Instance,
  drafts: TaskDrafts,
  context: ReconcileContext,
): Promise<PendingCleanup | undefined> {
  const version = context.cache.get(OperatorVersion, operatorVersionKey(instance));
  const plan = version?.spec?.plans?.[CLEANUP];
  if (!version || !plan) return undefined;
  const now = timestamp(context.clock);
  const plans = initializedPlans(instance.status?.planStatus, version);
  const known = plans[CLEANUP]!;
  const isNew = known.status === "NEVER_RUN" || known.uid === undefined;
  const uid = isNew ? context.clock.random.uuid() : known.uid!;
  const before = isNew ? startedPlan(known, uid, now) : known;
  const execution = {
    uid,
    operatorVersion: operatorVersionKey(instance),
    parameters: { ...instance.spec?.parameters },
  };
  const desired = new DesiredObjects([], () => undefined);
  const tasks = new TaskRun({
    plan: { instance, version, execution },
    drafts,
    desired,
    world: directWorld(instance, context),
  });
  const running = { name: CLEANUP, plan, tasks: version.spec?.tasks ?? [], status: before, now };
  const { status, failure } = await runPlan({ ...running, instance: keyOf(instance) }, (task, place) =>
    tasks.run(task, place),
  );
  if (isNew) context.events.normal("PlanStarted", `Execution of plan ${CLEANUP} started`);
  if (failure) context.events.warning(failure.reason, failure.message, { action: "Cleanup" });
  if (isNew || status !== before) await report(instance, { ...plans, [CLEANUP]: status }, uid, context);
  if (status.status === "COMPLETE") return undefined;
  if (isTerminal(status.status)) {
    const problem = failure?.message ?? "see status.planStatus.cleanup";
    return { waitingFor: `the plan ${CLEANUP}, which has failed: ${problem}`, requeueAfter: AFTER_FAILURE };
  }
  return { waitingFor: `the plan ${CLEANUP}`, requeueAfter: PERIOD };
}

/** Direct write: the status of an object that is deleted is not reconciled. */
async function report(
  instance: Instance,
  planStatus: object,
  uid: string,
  { client }: ReconcileContext,
): Promise<void> {
  const kind = Instance as KindRef<AnyObject>;
  if (instance.spec?.planExecution?.planName !== CLEANUP) {
    const planExecution = { planName: CLEANUP, uid, status: "IN_PROGRESS" };
    await client.patch(kind, keyOf(instance), { merge: { spec: { planExecution } } } as never);
  }
  await client.patchStatus(kind, keyOf(instance), { merge: { status: { planStatus } } } as never);
}
