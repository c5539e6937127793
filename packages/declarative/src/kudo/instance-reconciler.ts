/** Schedules plans of an instance, runs them, and keeps what they have made as it is to be. */
import { deepEqual, type KindRef, type KubeObject, keyOf, timestamp } from "@konverge/core";
import {
  type Child,
  type ChildrenOutcome,
  type PlannedChild,
  plannedChild,
  type ReconcileContext,
  type ReconcileResult,
} from "@konverge/runtime";
import { identity } from "../helm/rendered-objects.ts";
import { dependencyCycle } from "./dependency-cycle.ts";
import { DesiredObjects } from "./desired-objects.ts";
import { failedConditions, idleConditions, refusedConditions, runningConditions } from "./instance-report.ts";
import { hasBeenReleased, patchExecution, requestPlan } from "./instance-requests.ts";
import { changedPlan, scheduleOf } from "./instance-schedule.ts";
import {
  type Instance,
  type InstanceStatus,
  OperatorVersion,
  operatorVersionKey,
  type PlanExecution,
  type PlanStatus,
} from "./kudo-kinds.ts";
import { initializedPlans, isTerminal, startedPlan } from "./plan-status.ts";
import { renderAgain } from "./render-again.ts";
import { FatalTaskError, runPlan } from "./run-plan.ts";
import { TaskRun } from "./run-task.ts";
import type { ExecutedPlan, TaskDrafts } from "./task-drafts.ts";
import { reconciledWorld } from "./task-worlds.ts";

/** How often it is looked whether an object without events has become what a task waits for. */
const PERIOD = 2_000;
/** What the API server has refused is tried again: that it is accepted now is not observed. */
const REFUSED_PERIOD = 30_000;

/** Reconciles instances whose plans make objects of these kinds. */
export class InstanceReconciler {
  readonly #kinds: readonly KindRef<KubeObject>[];
  readonly #drafts: TaskDrafts;

  constructor(drafts: TaskDrafts, kinds: readonly KindRef<KubeObject>[]) {
    this.#drafts = drafts;
    this.#kinds = kinds;
  }

  async reconcile(instance: Instance, context: ReconcileContext): Promise<ReconcileResult<Instance>> {
    if (await hasBeenReleased(instance, context)) return {};
    const find = (key: string) => context.cache.get(OperatorVersion, key);
    const version = find(operatorVersionKey(instance));
    if (!version) {
      const message = `the OperatorVersion ${operatorVersionKey(instance)} does not exist: install it, for example with kubectl kudo install`;
      return { conditions: refusedConditions("InvalidOperatorVersion", message) };
    }
    const schedule = scheduleOf(instance, version, find);
    switch (schedule.state) {
      case "request":
        await requestPlan(instance, schedule, context);
        return {};
      case "ended":
        await patchExecution(instance, null, context);
        return {};
      case "run":
        return this.#run(instance, version, schedule, context);
      case "refused":
        return { ...this.#kept(instance, context), conditions: refusedConditions("InvalidChange", schedule.message) };
      default:
        return this.#idle(instance, version, context);
    }
  }

  async #run(
    instance: Instance,
    version: OperatorVersion,
    { plan: name, uid }: { plan: string; uid: string },
    context: ReconcileContext,
  ) {
    const now = timestamp(context.clock);
    const { status: before = {} } = instance;
    const plans = initializedPlans(before.planStatus, version);
    const isNew = plans[name]!.uid !== uid;
    const parameters = { ...instance.spec?.parameters };
    const started = { uid, operatorVersion: operatorVersionKey(instance), parameters };
    const execution = isNew ? started : (before.executions?.[name] ?? started);
    if (isNew) context.events.normal("PlanStarted", `Execution of plan ${name} started`);
    const status = isNew ? startedPlan(plans[name]!, uid, now) : plans[name]!;
    const made = {
      executions: { ...before.executions, [name]: execution },
      scheduled: scheduledNow(instance, version, name, execution, context),
    };
    const plan: ExecutedPlan = { instance, version, execution };
    const desired = this.#desired({ ...instance, status: { ...before, ...made } }, context);
    const tasks = new TaskRun({ plan, drafts: this.#drafts, desired, world: reconciledWorld(context) });
    const cycle = dependencyCycle(version, (key) => context.cache.get(OperatorVersion, key));
    const running = { name, plan: version.spec!.plans![name]!, tasks: version.spec?.tasks ?? [], status, now };
    const run = cycle
      ? {
          status: { ...status, status: "FATAL_ERROR", message: cycle, lastUpdatedTimestamp: now },
          failure: new FatalTaskError("CircularDependency", cycle),
        }
      : await runPlan({ ...running, instance: keyOf(instance) }, (task, place) => tasks.run(task, place));
    if (run.failure) context.events.warning(run.failure.reason, run.failure.message);
    if (isTerminal(run.status.status)) {
      context.events.normal("PlanFinished", `Execution of plan ${name} finished with status ${run.status.status}`);
    }
    const wholeStatus = { ...made, planStatus: { ...plans, [name]: run.status }, applied: desired.records() };
    return this.#result(instance, name, wholeStatus, desired, context);
  }

  #result(
    instance: Instance,
    name: string,
    status: InstanceStatus,
    desired: DesiredObjects,
    context: ReconcileContext,
  ): ReconcileResult<Instance> {
    const plan = status.planStatus![name]!;
    const hasChanged = !deepEqual(plan, instance.status?.planStatus?.[name]);
    const conditions = conditionsOf(name, plan, () => this.#observed(context), context);
    const children = this.#children(desired, context);
    const isNew = children.some(({ draft, options }) => !options.unchanged && !context.observed(draft));
    return {
      children,
      status: status as never,
      conditions,
      // Its own status causes no reconcile, and what tasks wait for may have no events.
      requeueAfter: hasChanged || isNew ? 1 : isTerminal(plan.status) ? undefined : PERIOD,
      report: ({ refused }: ChildrenOutcome) =>
        refused.length === 0
          ? undefined
          : {
              requeueAfter: REFUSED_PERIOD,
              conditions: runningConditions(
                name,
                refused.map(({ child, message }) => whereMade(child, status, message)).join("; "),
              ),
            },
    } as ReconcileResult<Instance>;
  }

  #idle(instance: Instance, version: OperatorVersion, context: ReconcileContext): ReconcileResult<Instance> {
    const { status = {} } = instance;
    const failed = Object.values(status.planStatus ?? {}).find(
      (plan) => plan.status === "FATAL_ERROR" && plan.uid === status.scheduled?.uid,
    );
    const conditions = failed
      ? failedConditions(failed.name ?? "", messageOf(failed))
      : idleConditions(this.#observed(context), context.clock.now());
    const adopted = {
      uid: "",
      operatorVersion: operatorVersionKey(instance),
      parameters: { ...instance.spec?.parameters },
    };
    const { conditions: _, ...mine } = status as InstanceStatus & { conditions?: unknown };
    const planStatus = initializedPlans(status.planStatus, version);
    return {
      ...this.#kept(instance, context),
      status: { ...mine, planStatus, scheduled: status.scheduled ?? adopted } as never,
      conditions,
      report: ({ refused }: ChildrenOutcome) =>
        refused.length === 0
          ? undefined
          : {
              requeueAfter: REFUSED_PERIOD,
              conditions: refusedConditions(
                "ObjectRefused",
                refused.map(({ child, message }) => whereMade(child, status, message)).join("; "),
              ),
            },
    } as ReconcileResult<Instance>;
  }

  /** What earlier plans have made. */
  #kept(instance: Instance, context: ReconcileContext): ReconcileResult<Instance> {
    return { children: this.#children(this.#desired(instance, context), context) };
  }

  #desired(instance: Instance, { cache }: ReconcileContext): DesiredObjects {
    const again = renderAgain(instance, this.#drafts, (key) => cache.get(OperatorVersion, key));
    return new DesiredObjects(instance.status?.applied ?? [], again);
  }

  /** Objects that the instance has and that are not known as they are to be, such as KUDO's own, stay as they are. */
  #children(desired: DesiredObjects, context: ReconcileContext): PlannedChild[] {
    const drafts = desired.drafts().filter((draft) => this.#drafts.kindOf(draft).namespaced);
    const planned = new Set(drafts.map(identity));
    const others = this.#observed(context).filter(
      (object) => !planned.has(identity(object)) && !desired.isDropped(object),
    );
    return [
      ...drafts.map((draft) => plannedChild(draft as Child, { onRefused: "report", onImmutable: "report" })),
      ...others.map((object) => plannedChild(nameOf(object), { unchanged: true })),
    ];
  }

  #observed({ observed }: ReconcileContext): KubeObject[] {
    return this.#kinds.flatMap((kind) => observed.all(kind) as KubeObject[]);
  }
}

/** What was scheduled last: a change that another plan is due for is not, and is made afterwards. */
function scheduledNow(
  instance: Instance,
  version: OperatorVersion,
  plan: string,
  execution: PlanExecution,
  { cache }: ReconcileContext,
): PlanExecution {
  const { scheduled } = instance.status ?? {};
  if (!scheduled) return execution;
  const due = changedPlan(instance, version, scheduled, (key) => cache.get(OperatorVersion, key));
  return due === undefined || due === plan ? execution : scheduled;
}

const nameOf = ({ apiVersion, kind, metadata: { name, namespace } }: KubeObject) =>
  ({ apiVersion, kind, metadata: { name, ...(namespace && { namespace }) } }) as Child;

function conditionsOf(name: string, plan: PlanStatus, objects: () => KubeObject[], { clock }: ReconcileContext) {
  if (plan.status === "FATAL_ERROR") return failedConditions(name, messageOf(plan));
  if (plan.status === "COMPLETE") return idleConditions(objects(), clock.now());
  const errors = (plan.phases ?? []).flatMap(({ steps = [] }) => steps.filter(({ status }) => status === "ERROR"));
  return runningConditions(name, errors[0]?.message);
}

/** The first message that says why a plan has failed. */
function messageOf({ message, phases = [] }: PlanStatus): string {
  const steps = phases.flatMap((phase) => [phase.message, ...(phase.steps ?? []).map((step) => step.message)]);
  return [message, ...steps].find((one) => one) ?? "";
}

/** What the API server refuses, with the task that makes it. */
function whereMade(child: KubeObject, { applied = [] }: InstanceStatus, message: string): string {
  const { apiVersion, kind, metadata } = child;
  const made = applied.find((one) => one.apiVersion === apiVersion && one.kind === kind && one.name === metadata.name);
  return made ? `${made.plan}.${made.phase}.${made.step}.${made.task}: ${message}` : message;
}
