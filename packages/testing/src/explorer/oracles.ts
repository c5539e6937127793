import type { AnyObject } from "@konverge/core";
import { isFatal, reportsFailure, withoutDetails } from "./application-oracles.ts";
import { budgetOracle, foreignDeletionOracle, restartOracle } from "./disruption-oracles.ts";
import { type EndState, type EndStateMask, endStateDifferences, shownNames } from "./end-state.ts";
import { hasEnded } from "./ended-objects.ts";
import { exitOracle } from "./exit-oracle.ts";
import { lostUpdateOracle, repeatedEffectOracle } from "./identity-oracles.ts";
import type { ExploredRun, Oracle } from "./oracle.ts";
import { ownershipProblems } from "./ownership.ts";

/** As many requests while idle are routine: watches that end are opened again, and slow polling is a choice. */
const ROUTINE_REQUESTS = 100;
/** Faults cost retries; more writes than this many times those of the clean run, and some more, are a storm. */
const STORM = { factor: 5, more: 50 };
/** Resources whose objects hold data that a new object of the same name does not bring back. */
const DATA = new Set(["persistentvolumeclaims", "persistentvolumes", "secrets"]);

/** The oracles that judge every run, in the order in which they are reported. */
export function oracles(mask: EndStateMask = new Set()): readonly Oracle[] {
  return [
    {
      name: "scenario",
      meaning: "An assertion of the scenario itself failed.",
      check: (run) => {
        const { failure, faults } = run;
        // After a wait that the user cut short, while an object is recreated, or when a Job failed, what a scenario asserts may not be true.
        const isExcused = faults.some(({ type }) => type === "impatient user" || type === "delete");
        if (failure?.type !== "scenario" || isExcused || isFatal(run)) return [];
        return [firstLine(failure.message)];
      },
    },
    {
      name: "end state",
      meaning: "The objects at the end are not those of a run without faults, or the run never got so far.",
      check: (run, reference) => {
        if (reportsFailure(run)) return [];
        if (run.failure?.type === "wait") return [firstLine(run.failure.message)];
        const ended = endedAndDeleted(run);
        const found = differences(run, reference, mask).filter((one) => !one.endsWith(EXTRA) && !ended.has(one));
        // A new object of the same name has no past: what it was before its last change is not known any more.
        const isRecreated = run.faults.some((fault) => fault.type === "delete" && fault.recreate);
        const counting = isRecreated ? found.filter((one) => one.endsWith(MISSING)) : found;
        return counting.length > 0 || ended.size > 0 ? counting : noLongerTrue(run, reference);
      },
    },
    {
      name: "leak",
      meaning:
        "An object is there at the end that a run without faults does not leave: leaked, duplicated or resurrected.",
      check: (run, reference) => differences(run, reference, mask).filter((one) => one.endsWith(EXTRA)),
    },
    {
      name: "idle",
      meaning: "The operator writes or sends requests although there is nothing to do.",
      check: ({ failure, idle }) => {
        if (failure?.type === "restless") return [firstLine(failure.message)];
        if (!idle) return [];
        const minutes = idle.ms / 60_000;
        if (idle.writes > 0) return [`the operator wrote ${idle.writes} times in ${minutes} minutes without a change`];
        if (idle.requests <= ROUTINE_REQUESTS) return [];
        return [`the operator sent ${idle.requests} requests in ${minutes} minutes without a change`];
      },
    },
    {
      name: "write storm",
      meaning: "The operator writes many times more than in a run without faults.",
      check: (run, reference) => {
        const [writes, usual] = [writesOf(run), writesOf(reference)];
        if (writes <= usual * STORM.factor + STORM.more) return [];
        return [`the operator wrote ${writes} times, without faults ${usual} times`];
      },
    },
    {
      name: "data loss",
      meaning: "The operator deleted an object that holds data and that it keeps in a run without faults.",
      check: (run, reference) => {
        // Whoever deletes an object has its data deleted.
        if (run.faults.some(({ type }) => type === "delete")) return [];
        const usual = deletions(reference);
        return [...deletions(run)]
          .filter(([key, objects]) => objects.size > (usual.get(key)?.size ?? 0))
          .map(([key]) => `the operator deleted ${key}, which it keeps without faults`);
      },
    },
    lostUpdateOracle,
    repeatedEffectOracle,
    restartOracle,
    budgetOracle,
    foreignDeletionOracle,
    {
      name: "ownership",
      meaning:
        "An object has an owner that is not in its namespace, or was adopted from an owner that no longer exists.",
      check: (run, reference) => without(ownershipProblems(run), ownershipProblems(reference), run === reference),
    },
    {
      name: "finalizer",
      meaning: "An object that was deleted is still there: a finalizer is never removed.",
      check: (run, reference) => without(terminating(run), terminating(reference), run === reference),
    },
    {
      name: "status",
      meaning:
        "A status names a generation that the object does not have, stays behind the generation at the end, or reports an object " +
        "that has failed as ready.",
      check: (run, reference) => without(statusProblems(run), statusProblems(reference), run === reference),
    },
    {
      name: "ready too early",
      meaning: "By kstatus' rules, which GitOps tools wait by, an object was ready before its children were.",
      check: ({ prematureReadiness }) => prematureReadiness,
    },
    {
      name: "unhandled error",
      meaning: "A promise was rejected and nothing handled it: a real process would end.",
      check: ({ unhandled }) => unhandled.map((message) => `unhandled rejection: ${firstLine(message)}`),
    },
    exitOracle,
    {
      name: "rbac",
      meaning: "The operator sent a request that its role does not permit.",
      check: ({ denied }) => [...new Set(denied)].map((message) => `forbidden: ${firstLine(message)}`),
    },
    {
      name: "invariant",
      meaning: "An invariant of yours did not hold.",
      check: ({ violations }) => violations.map(({ invariant, message }) => `${invariant}: violated ${message}`),
    },
  ];
}

const EXTRA = " should not be there";
const MISSING = " is missing";

function differences(run: ExploredRun, reference: ExploredRun, mask: EndStateMask): string[] {
  if (run === reference || !run.endState || !reference.endState) return [];
  const shown = (state: EndState) => (isFatal(run) ? withoutDetails(state, run.groups) : state);
  return endStateDifferences(shown(reference.endState), shown(run.endState), mask);
}

/** Jobs and pods that others deleted after they had ended, as differences: no operator has to bring them back. */
function endedAndDeleted({ changes }: ExploredRun): Set<string> {
  const deleted = changes.filter(({ type, by, object }) => type === "deleted" && by !== "operator" && hasEnded(object));
  const shown = shownNames(changes.map(({ object }) => object));
  return new Set(deleted.map(({ object }) => `${object.kind} ${shown(object)}${MISSING}`));
}

/** What the user waited for last has to be so at the end as well, if it is without faults. */
function noLongerTrue({ endState, lastWait }: ExploredRun, reference: ExploredRun): string[] {
  // A run that ended early has not come to its end.
  if (
    !endState ||
    !lastWait ||
    lastWait.holds ||
    !reference.lastWait?.holds ||
    reference.lastWait.what !== lastWait.what
  )
    return [];
  return [`it is not true any more that ${lastWait.what}`];
}

/** A generated name is shown without what the server drew. */
const shownName = ({ generateName, name }: AnyObject["metadata"]) => (generateName ? `${generateName}*` : name);

function writesOf({ timeline }: ExploredRun): number {
  return timeline.filter(({ who, type }) => who === "operator" && type === "write").length;
}

/** The objects with data that the operator deleted, as UIDs by name. */
function deletions({ changes }: ExploredRun): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const { type, by, resource, object, previous } of changes) {
    const isDeletion =
      type === "deleted" || (object.metadata.deletionTimestamp && !previous?.metadata.deletionTimestamp);
    if (!isDeletion || by !== "operator" || !DATA.has(resource)) continue;
    const key = `${resource}/${shownName(object.metadata)}`;
    found.set(key, (found.get(key) ?? new Set()).add(object.metadata.uid ?? ""));
  }
  return found;
}

function terminating({ objects, failure }: ExploredRun): string[] {
  if (failure && failure.type !== "wait") return [];
  return objects
    .filter(({ metadata }) => metadata.deletionTimestamp !== undefined && (metadata.finalizers?.length ?? 0) > 0)
    .map(({ kind, metadata }) => `${kind} ${metadata.name} is deleted, but held by ${metadata.finalizers!.join(", ")}`);
}

function statusProblems({ changes, objects, groups, failure }: ExploredRun): string[] {
  const problems = new Set<string>();
  for (const { object } of changes) {
    const observed = observedGeneration(object, groups);
    if (observed !== undefined && observed > (object.metadata.generation ?? 0)) {
      problems.add(`the status of ${object.kind} ${object.metadata.name} names a generation that does not exist yet`);
    }
    const failure = isOwn(object, groups) && readyThough(object);
    if (failure) problems.add(`the status of ${object.kind} ${object.metadata.name} is Ready, but ${failure}`);
  }
  if (failure) return [...problems];
  for (const object of objects) {
    const observed = observedGeneration(object, groups);
    // A new object says -1 by its CRD; an operator that never reports generations claims nothing.
    if (observed !== undefined && observed >= 0 && observed < (object.metadata.generation ?? 0)) {
      problems.add(`the status of ${object.kind} ${object.metadata.name} is not that of its last generation`);
    }
  }
  return [...problems];
}

/** The status of an operator's own kind, as far as conventions go. */
interface ConventionalStatus {
  readonly observedGeneration?: number;
  readonly phase?: unknown;
  readonly conditions?: readonly { readonly type?: string; readonly status?: string }[];
}

function isOwn({ apiVersion }: AnyObject, groups: readonly string[]): boolean {
  return groups.includes(String(apiVersion).split("/")[0] ?? "");
}

function observedGeneration(object: AnyObject, groups: readonly string[]): number | undefined {
  if (!isOwn(object, groups)) return undefined;
  return (object["status"] as ConventionalStatus | undefined)?.observedGeneration;
}

/** What contradicts the condition Ready, in the same status. Tools that wait for Ready would take the failure for a success. */
function readyThough(object: AnyObject): string | undefined {
  const { phase, conditions } = (object["status"] ?? {}) as ConventionalStatus;
  const isTrue = (name: string) =>
    Array.isArray(conditions) && conditions.some(({ type, status }) => type === name && status === "True");
  if (!isTrue("Ready")) return undefined;
  if (phase === "Failed") return "its phase is Failed";
  const failure = ["Failed", "Stalled"].find(isTrue);
  return failure && `its condition ${failure} is True`;
}

/** What a run without faults shows as well is not the fault of a fault: it is reported once, for that run. */
function without(found: readonly string[], usual: readonly string[], isReference: boolean): readonly string[] {
  return isReference ? found : found.filter((one) => !usual.includes(one));
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
