import type { DynamoComponentDeployment } from "./component-deployment.ts";
import type { DynamoGraphDeployment } from "./graph-deployment.ts";

/** How far a restart is. */
export interface RestartPlan {
  /** The restart that each service should be in, by its name; undefined: none so far. */
  readonly ids: ReadonlyMap<string, string | undefined>;
  /** Services that have not finished it. */
  readonly pending: readonly string[];
}

/**
 * Who may restart now. In sequence, a service follows when all before it run the restart and are ready; until then it stays
 * as it is. It follows from what is there alone, so that it goes on after a crash of the operator.
 */
export function restartPlan(
  { spec: { restart } }: DynamoGraphDeployment,
  names: readonly string[],
  componentOf: (name: string) => DynamoComponentDeployment | undefined,
): RestartPlan {
  if (!restart) return { ids: new Map(names.map((name) => [name, componentOf(name)?.spec.restartId])), pending: [] };
  const { id, strategy } = restart;
  const sequential = strategy?.type !== "Parallel";
  const order = [...(strategy?.order ?? []).filter((name) => names.includes(name))];
  order.push(...names.filter((name) => !order.includes(name)));
  const ids = new Map<string, string | undefined>();
  const pending: string[] = [];
  for (const name of order) {
    const component = componentOf(name);
    // What is recreated has nothing to restart.
    const mayBegin = !sequential || pending.length === 0 || !component;
    ids.set(name, mayBegin ? id : component?.spec.restartId);
    if (component && component.status?.restartId !== id) pending.push(name);
  }
  return { ids, pending };
}
