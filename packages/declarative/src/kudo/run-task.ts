/** Runs the tasks of a plan: which objects there are to be, and whether they are what the task waits for. */
import type { KindRef, KubeObject } from "@konverge/core";
import { isApplied } from "@konverge/runtime";
import { identity } from "../helm/rendered-objects.ts";
import { type DesiredObjects, digestOf } from "./desired-objects.ts";
import type { Task } from "./kudo-kinds.ts";
import { healthOf } from "./object-health.ts";
import { type ExecInPod, pipeArtifacts, pipePod } from "./pipe-task.ts";
import { FatalTaskError, type TaskPlace, TransientTaskError } from "./run-plan.ts";
import type { ExecutedPlan, TaskDrafts } from "./task-drafts.ts";
import { dependenciesHash, withDependencies } from "./task-metadata.ts";

/** What tasks see of the cluster, and do to it beside the desired objects. */
export interface TaskWorld {
  /** The object as it is. */
  find(kind: KindRef<KubeObject>, object: KubeObject): Promise<KubeObject | undefined>;
  /** Applies an object now, unless it is applied with the other children of the instance. */
  apply(kind: KindRef<KubeObject>, draft: KubeObject): Promise<void>;
  /** Deletes an object now, unless it is deleted as a child that is no longer returned. */
  delete(kind: KindRef<KubeObject>, object: KubeObject): Promise<void>;
  /** Whether the cluster serves a kind that the operator does not know yet. */
  isServed(object: KubeObject): Promise<boolean>;
  readonly exec: ExecInPod;
  now(): number;
}

/** What a run of tasks works with. */
export interface TaskRunOptions {
  readonly plan: ExecutedPlan;
  readonly drafts: TaskDrafts;
  readonly desired: DesiredObjects;
  readonly world: TaskWorld;
}

export class TaskRun {
  readonly #given: TaskRunOptions;

  constructor(given: TaskRunOptions) {
    this.#given = given;
  }

  /** Does what is left of a task. Returns whether it is done. */
  async run(task: Task, place: TaskPlace): Promise<boolean> {
    switch (task.kind) {
      case "Apply":
        return this.#apply(place, resourcesOf(task));
      case "Delete":
        return this.#delete(place, resourcesOf(task));
      case "Toggle":
        return this.#isOn(task) ? this.#apply(place, resourcesOf(task)) : this.#delete(place, resourcesOf(task));
      case "Pipe":
        return this.#pipe(task, place);
      case "KudoOperator":
        return this.#keep(place, [this.#given.drafts.dependency(this.#given.plan, place, task)]);
      case "Dummy":
        return dummy(task);
      default:
        throw new FatalTaskError("TaskBuildError", `unknown task kind ${task.kind}`);
    }
  }

  async #apply(place: TaskPlace, resources: readonly string[]): Promise<boolean> {
    const { plan, drafts } = this.#given;
    return this.#keep(place, drafts.rendered(plan, place, resources));
  }

  /** `isRepeatable`: the same can be rendered again. */
  async #keep(place: TaskPlace, objects: readonly KubeObject[], isRepeatable = true): Promise<boolean> {
    const { plan, drafts, desired } = this.#given;
    await this.#checkKinds(objects);
    const placed = objects.map((object) => ({ object, draft: drafts.placed(plan, place, object) }));
    const inTask = new Map(placed.map(({ draft }) => [identity(draft), draft]));
    const uid = plan.execution.uid ?? "";
    const made = placed.map(({ object, draft }) => {
      const dependencies = dependenciesHash(draft, (kind, name) => {
        const key = identity({
          apiVersion: "v1",
          kind,
          metadata: { name, namespace: draft.metadata.namespace },
        } as KubeObject);
        return inTask.get(key) ?? desired.find(key);
      });
      const whole = withDependencies(draft, dependencies);
      const more = { ...(isRepeatable && { digest: digestOf(object) }), ...(dependencies && { dependencies }) };
      desired.apply(whole, place, uid, more);
      return whole;
    });
    const reached = await Promise.all(made.map((draft) => this.#isReached(draft)));
    return reached.every(Boolean);
  }

  async #isReached(draft: KubeObject): Promise<boolean> {
    const { drafts, world } = this.#given;
    const kind = drafts.kindOf(draft);
    const live = await world.find(kind, draft);
    if (!isApplied(kind, draft, live)) {
      await world.apply(kind, draft);
      return false;
    }
    const { state, message } = healthOf(live!, world.now());
    if (state === "failed") throw new FatalTaskError("FailedTerminalStateError", `HealthUtil: ${message}`);
    return state === "healthy";
  }

  async #delete(place: TaskPlace, resources: readonly string[]): Promise<boolean> {
    const { plan, drafts, desired, world } = this.#given;
    let isDone = true;
    for (const object of drafts.rendered(plan, place, resources)) {
      // What is not served is not there.
      if (!this.#isKnown(object) && !(await world.isServed(object))) continue;
      await this.#checkKinds([object]);
      const draft = drafts.placed(plan, place, object);
      const kind = drafts.kindOf(draft);
      desired.drop(draft);
      const live = await world.find(kind, draft);
      if (!live) continue;
      isDone = false;
      if (!live.metadata.deletionTimestamp) await world.delete(kind, live);
    }
    return isDone;
  }

  async #pipe(task: Task, place: TaskPlace): Promise<boolean> {
    const { plan, drafts, desired, world } = this.#given;
    const [rendered] = drafts.rendered(plan, place, [task.spec?.pod ?? ""]);
    const pod = drafts.placed(plan, place, pipePod(rendered, task, plan.instance, place));
    const kind = drafts.kindOf(pod);
    const live = await world.find(kind, pod);
    if (!live || healthOf(live, world.now()).state !== "healthy") {
      desired.apply(pod, place, plan.execution.uid ?? "", {});
      return false;
    }
    const artifacts = await pipeArtifacts(live, task, plan.instance, place, world.exec);
    const isDone = await this.#keep(place, artifacts, false);
    if (isDone) {
      desired.drop(pod);
      await world.delete(kind, live);
    } else desired.apply(pod, place, plan.execution.uid ?? "", {});
    return isDone;
  }

  #isKnown(object: KubeObject): boolean {
    try {
      return this.#given.drafts.kindOf(object) !== undefined;
    } catch {
      return false;
    }
  }

  /** A kind that has just been installed: the operator begins to watch it. */
  async #checkKinds(objects: readonly KubeObject[]): Promise<void> {
    for (const object of objects) {
      if (this.#isKnown(object) || !(await this.#given.world.isServed(object))) continue;
      throw new TransientTaskError(`${object.kind} in ${object.apiVersion} is not watched yet`);
    }
  }

  #isOn({ name, spec }: Task): boolean {
    const { version, execution } = this.#given.plan;
    const parameter = spec?.parameter;
    if (!parameter)
      throw new FatalTaskError("TaskBuildError", `toggle task ${name}: Missing parameter to evaluate the Toggle Task`);
    const definition = version.spec?.parameters?.find((one) => one.name === parameter);
    const value = execution.parameters?.[parameter] ?? definition?.default;
    if (!definition || value === undefined)
      throw new FatalTaskError("ToggleTaskError", `no value for parameter ${parameter} found`);
    if (/^(1|t|T|TRUE|true|True)$/.test(value)) return true;
    if (/^(0|f|F|FALSE|false|False)$/.test(value)) return false;
    throw new FatalTaskError(
      "ToggleTaskError",
      `could not parse value of parameter ${parameter}: "${value}" is not a boolean`,
    );
  }
}

function resourcesOf({ name, kind, spec }: Task): readonly string[] {
  const resources = spec?.resources ?? [];
  if (resources.length > 0) return resources;
  throw new FatalTaskError(
    "TaskBuildError",
    `task validation error: ${kind?.toLowerCase()} task '${name}' has an empty resource list. if that's what you need, use a Dummy task instead`,
  );
}

function dummy({ spec }: Task): boolean {
  if (!spec?.wantErr) return spec?.done ?? false;
  throw spec.fatal ? new FatalTaskError("DummyTaskError", "dummy error") : new TransientTaskError("dummy error");
}
