import { type AnyObject, controllerOf } from "@konverge/core";
import type { ApplicationFault } from "./application-fault.ts";
import type { FaultPoint } from "./fault-point.ts";
import type { ExploredRun } from "./oracle.ts";
import type { TimelineEntry } from "./timeline.ts";

/** What can happen to the application at a moment of a run that is outside the operator's work, when these objects are there. */
export function troublesOf(at: FaultPoint, objects: readonly AnyObject[], ms: number): ApplicationFault[] {
  return firstAndLast(objects.filter(isRunning)).flatMap(({ metadata: { name } }) => [
    { type: "application", at, trouble: "unready", name, ms } as const,
    { type: "application", at, trouble: "evicted", name, ms } as const,
  ]);
}

/** What can happen to the application that a write of the operator is about. */
export function troublesAtWrite({ point, what }: TimelineEntry, run: ExploredRun, ms: number): ApplicationFault[] {
  const [, verb = "", plural = "", name = ""] = /^(\S+) (pods|jobs\.batch)\/(\S*)$/.exec(what) ?? [];
  if (!point) return [];
  const fault = { type: "application", at: point, ms } as const;
  const generated = name.endsWith("*");
  if (verb === "delete" && plural === "pods" && !generated) return [{ ...fault, trouble: "slow stop", name }];
  if (plural !== "jobs.batch" || !["create", "apply", "patch"].includes(verb)) return [];
  const isCreated = run.changes.some(
    ({ resource, type, object }) =>
      resource === plural && type === "created" && (generated || name === "" || object.metadata.name === name),
  );
  return isCreated ? [{ ...fault, trouble: "job fails", name: generated ? "" : name }] : [];
}

/** Of the pods of each controller, the first and the last by name: the others are like them. */
function firstAndLast(pods: readonly AnyObject[]): AnyObject[] {
  const sorted = pods.toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name, "en", { numeric: true }));
  const groups = Map.groupBy(sorted, (pod) => controllerOf(pod)?.uid);
  return [...groups.values()].flatMap((group) => (group.length > 1 ? [group[0]!, group.at(-1)!] : group));
}

function isRunning({ kind, metadata, ...pod }: AnyObject): boolean {
  const { phase } = (pod["status"] ?? {}) as { phase?: string };
  return kind === "Pod" && phase === "Running" && metadata.deletionTimestamp === undefined;
}
