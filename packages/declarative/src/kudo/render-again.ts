/** Renders what tasks have made, to compare it with what there is. */
import { identity } from "../helm/rendered-objects.ts";
import { digestOf, identityOf, type RenderAgain } from "./desired-objects.ts";
import type { AppliedObject, Instance, OperatorVersion } from "./kudo-kinds.ts";
import { FatalTaskError } from "./run-plan.ts";
import type { ExecutedPlan, TaskDrafts } from "./task-drafts.ts";
import { withDependencies } from "./task-metadata.ts";

/** An object whose template has changed since, or that a later execution of its plan is about to change, is not rendered. */
export function renderAgain(
  instance: Instance,
  drafts: TaskDrafts,
  find: (key: string) => OperatorVersion | undefined,
): RenderAgain {
  return (record) => {
    const execution = instance.status?.executions?.[record.plan];
    const version = find(execution?.operatorVersion ?? "");
    if (!execution || !version || execution.uid !== record.uid || record.digest === undefined) return undefined;
    try {
      return sameObject({ instance, version, execution }, record, drafts);
    } catch (error) {
      if (error instanceof FatalTaskError) return undefined;
      throw error;
    }
  };
}

function sameObject(plan: ExecutedPlan, record: AppliedObject, drafts: TaskDrafts) {
  const task = plan.version.spec?.tasks?.find(({ name }) => name === record.task);
  if (!task) return undefined;
  const { plan: name, phase, step } = record;
  const place = { plan: name, phase, step, task: record.task };
  const objects =
    task.kind === "KudoOperator"
      ? [drafts.dependency(plan, place, task)]
      : drafts.rendered(plan, place, task.spec?.resources ?? []);
  for (const object of objects) {
    if (object.kind !== record.kind || object.metadata.name !== record.name) continue;
    const draft = drafts.placed(plan, place, object);
    if (identity(draft) !== identityOf(record)) continue;
    return digestOf(object) === record.digest ? withDependencies(draft, record.dependencies) : undefined;
  }
  return undefined;
}
