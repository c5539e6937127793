/** The controller of instances: it schedules plans, runs them, and keeps what they have made as it is to be. */
import {
  type AnyObject,
  deepEqual,
  groupKindText,
  type KindRef,
  type KubeObject,
  keyOf,
  parseApiVersion,
  timestamp,
} from "@konverge/core";
import { Pod } from "@konverge/kinds";
import {
  type Child,
  type ChildrenOutcome,
  type Controller,
  controller,
  ownedKind,
  type PermissionDeclaration,
  type PlannedChild,
  permission,
  plannedChild,
  type ReconcileContext,
  type ReconcileResult,
  watchKind,
} from "@konverge/runtime";
import { identity } from "../helm/rendered-objects.ts";
import { builtinKind } from "../kinds/known-kinds.ts";
import { runCleanup } from "./cleanup-plan.ts";
import { dependencyCycle } from "./dependency-cycle.ts";
import { DesiredObjects } from "./desired-objects.ts";
import { failedConditions, idleConditions, refusedConditions, runningConditions } from "./instance-report.ts";
import { scheduleOf } from "./instance-schedule.ts";
import { Instance, type InstanceStatus, OperatorVersion, operatorVersionKey, type PlanStatus } from "./kudo-kinds.ts";
import { initializedPlans, isTerminal, startedPlan } from "./plan-status.ts";
import { renderAgain } from "./render-again.ts";
import { FatalTaskError, runPlan } from "./run-plan.ts";
import { TaskRun } from "./run-task.ts";
import { type ExecutedPlan, TaskDrafts } from "./task-drafts.ts";
import { TaskEngine } from "./task-engine.ts";
import { HERITAGE } from "./task-metadata.ts";
import { reconciledWorld } from "./task-worlds.ts";
import type { VersionKinds } from "./version-kinds.ts";

const FINALIZER = "kudo.dev/instance-cleanup";
/** Of an instance that KUDO's own controller has made. */
const FORMER_FINALIZER = "kudo.dev.instance.cleanup";
/** How often it is looked whether an object without events has become what a task waits for. */
const PERIOD = 2_000;

/** What the controller of instances is made for. */
export interface InstanceControllerOptions extends VersionKinds {
  /** The keys of the OperatorVersions that have a plan for deletion. */
  readonly cleaning: ReadonlySet<string>;
  readonly engine?: TaskEngine;
}

/** The controller of instances whose plans make objects of these kinds. */
export function instanceController({
  kinds,
  usesPods,
  cleaning,
  engine = new TaskEngine(),
}: InstanceControllerOptions): Controller {
  const known = new Map(kinds.map((kind) => [groupKindText(kind), kind]));
  const drafts = new TaskDrafts(engine, (object) => {
    const kind = known.get(groupKindText({ group: parseApiVersion(object.apiVersion).group, kind: object.kind }));
    const isServed =
      kind &&
      (parseApiVersion(object.apiVersion).version === kind.version || builtinKind(object.apiVersion, object.kind));
    return isServed ? kind : undefined;
  });
  const instances = new Instances(
    drafts,
    kinds.filter(({ namespaced }) => namespaced),
  );
  return controller(Instance, {
    owns: instances.kinds.map((kind) =>
      ownedKind(kind, {
        adopt: "any",
        ...(groupKindText(kind) !== groupKindText(Instance) && { labelSelector: HERITAGE }),
        ...(isOptional(kind) && { optional: true }),
      }),
    ),
    watches: [watchKind(OperatorVersion, { references: (instance: Instance) => referencesOf(instance) })],
    permissions: permissionsOf(kinds, usesPods),
    finalizer: FINALIZER,
    needsCleanup: (instance) => cleaning.has(operatorVersionKey(instance)),
    reconcile: (instance, context) => instances.reconcile(instance, context) as never,
    cleanup: (instance, context) => runCleanup(instance, drafts, context),
  });
}

/** The versions that an instance is made from: the one that it has, and those of plans that have run. */
function referencesOf(instance: Instance): string[] {
  const earlier = Object.values(instance.status?.executions ?? {}).flatMap(
    ({ operatorVersion }) => operatorVersion ?? [],
  );
  return [...new Set([operatorVersionKey(instance), ...earlier])];
}

function permissionsOf(kinds: readonly KindRef<KubeObject>[], usesPods: boolean): PermissionDeclaration[] {
  const clusterWide = kinds.filter(({ namespaced }) => !namespaced);
  return [
    permission(Instance, ["patch"], { why: "schedules plans" }),
    ...clusterWide.map((kind) =>
      permission(kind, ["get", "create", "patch", "delete"], { why: "tasks apply and delete it" }),
    ),
    ...(usesPods
      ? [permission(Pod, ["create"], { subresource: "exec", why: "pipe tasks read files of their pods" })]
      : []),
  ];
}

/** Kinds that have a definition may go; Kubernetes' own do not. */
function isOptional({ group, version, kind }: KindRef<KubeObject>): boolean {
  const apiVersion = group === "" ? version : `${group}/${version}`;
  return builtinKind(apiVersion, kind) === undefined && group !== Instance.group;
}

class Instances {
  readonly kinds: readonly KindRef<KubeObject>[];
  readonly #drafts: TaskDrafts;

  constructor(drafts: TaskDrafts, kinds: readonly KindRef<KubeObject>[]) {
    this.#drafts = drafts;
    this.kinds = kinds;
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
    const made = { executions: { ...before.executions, [name]: execution }, scheduled: { ...execution, uid } };
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
    return this.kinds.flatMap((kind) => observed.all(kind) as KubeObject[]);
  }
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

/** Removes the finalizer of KUDO's own controller, which this one replaces by its own. */
async function hasBeenReleased(instance: Instance, { client }: ReconcileContext): Promise<boolean> {
  const { finalizers = [], resourceVersion } = instance.metadata;
  if (!finalizers.includes(FORMER_FINALIZER)) return false;
  const kept = finalizers.filter((one) => one !== FORMER_FINALIZER);
  // Direct write: nobody else would remove it.
  const merge = { metadata: { resourceVersion, finalizers: kept } };
  await client.patch(Instance as KindRef<AnyObject>, keyOf(instance), { merge } as never);
  return true;
}

async function requestPlan(
  instance: Instance,
  { plan, parameters }: { plan: string; parameters?: Readonly<Record<string, string>> },
  context: ReconcileContext,
): Promise<void> {
  const uid = context.clock.random.uuid();
  await patchExecution(instance, { planName: plan, uid, status: "NEVER_RUN" }, context, parameters);
}

/** Direct write: what an instance runs is in its spec, as in KUDO. Not if it has changed since. */
async function patchExecution(
  { metadata }: Instance,
  planExecution: object | null,
  { client }: ReconcileContext,
  parameters?: Readonly<Record<string, string>>,
): Promise<void> {
  const { resourceVersion } = metadata;
  const merge = { metadata: { resourceVersion }, spec: { planExecution, ...(parameters && { parameters }) } };
  await client.patch(Instance as KindRef<AnyObject>, keyOf({ metadata } as KubeObject), { merge } as never);
}
