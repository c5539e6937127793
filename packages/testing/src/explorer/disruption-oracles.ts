import { type AnyObject, type LabelSelector, selectsLabels } from "@konverge/core";
import type { ExploredRun, Oracle } from "./oracle.ts";
import type { ObjectChange } from "./timeline.ts";

/** Members that a PodDisruptionBudget keeps available are not deleted while too few are. */
export const budgetOracle: Oracle = {
  name: "disruption budget",
  meaning: "The operator deleted an available pod although its PodDisruptionBudget permits no more disruptions.",
  check: (run, reference) => {
    const found = exceeded(run);
    return run === reference ? found : found.filter((one) => !exceeded(reference).includes(one));
  },
};

interface Budget {
  readonly spec?: { readonly selector?: LabelSelector; readonly minAvailable?: number | string };
  readonly status?: { readonly desiredHealthy?: number };
}

function exceeded({ changes }: ExploredRun): string[] {
  const pods = new Map<string, AnyObject>();
  const budgets = new Map<string, AnyObject>();
  const problems = new Set<string>();
  for (const change of changes) {
    const { resource, name, type, object } = change;
    if (resource === "pods" && isDeletion(change) && change.by === "operator") {
      for (const [budget, about] of budgets) {
        if (isExceeded(about as Budget, change.previous ?? object, [...pods.values()])) {
          problems.add(`the operator deleted an available pod, although ${budget} permits no more disruptions`);
        }
      }
    }
    const known = resource === "pods" ? pods : resource === "poddisruptionbudgets.policy" ? budgets : undefined;
    if (type === "deleted") known?.delete(name);
    else known?.set(name, object);
  }
  return [...problems];
}

function isExceeded({ spec, status }: Budget, pod: AnyObject, pods: readonly AnyObject[]): boolean {
  if (!isAvailable(pod) || !selectsLabels(spec?.selector, pod.metadata.labels)) return false;
  const { minAvailable } = spec ?? {};
  const needed = typeof minAvailable === "number" ? minAvailable : (status?.desiredHealthy ?? 0);
  const healthy = pods.filter((one) => isAvailable(one) && selectsLabels(spec?.selector, one.metadata.labels));
  return healthy.length - 1 < needed;
}

function isAvailable(pod: AnyObject): boolean {
  const { conditions = [] } = (pod["status"] ?? {}) as { conditions?: { type: string; status: string }[] };
  const isReady = conditions.some(({ type, status }) => type === "Ready" && status === "True");
  return isReady && pod.metadata.deletionTimestamp === undefined;
}

/** What a user made and no operator controls is the user's to delete. */
export const foreignDeletionOracle: Oracle = {
  name: "foreign deletion",
  meaning: "The operator deleted an object that its user had created and that it does not control.",
  check: (run, reference) => {
    const found = foreignDeletions(run);
    return run === reference ? found : found.filter((one) => !foreignDeletions(reference).includes(one));
  },
};

function foreignDeletions({ changes, groups }: ExploredRun): string[] {
  const ofUser = new Set<string | undefined>();
  const problems = new Set<string>();
  for (const change of changes) {
    const { resource, name, type, by, object, previous } = change;
    const { uid } = object.metadata;
    if (type === "created" && by === "user") ofUser.add(uid);
    // What the operator has written to is in its hands.
    if (type === "updated" && by === "operator" && !isDeletion(change)) ofUser.delete(uid);
    const isOwn = groups.some((group) => resource.endsWith(`.${group}`));
    const isControlled = (previous ?? object).metadata.ownerReferences !== undefined;
    if (by === "operator" && isDeletion(change) && ofUser.has(uid) && !isOwn && !isControlled) {
      problems.add(`the operator deleted ${resource}/${name}, which its user had created`);
    }
  }
  return [...problems];
}

/** Whether a change is a deletion, or the request for one that a finalizer or a grace period delays. */
function isDeletion({ type, object, previous }: ObjectChange): boolean {
  const wasMarked = previous?.metadata.deletionTimestamp !== undefined;
  return (type === "deleted" && !wasMarked) || (object.metadata.deletionTimestamp !== undefined && !wasMarked);
}

/** A restart is no reason for a change: each process must want the same. */
export const restartOracle: Oracle = {
  name: "restart",
  meaning: "A new process of the operator changed what the earlier one had made, although nothing else had changed.",
  check: ({ faults, timeline, changes, idle }) => {
    const isRestart = faults.length > 0 && faults.every(({ type, at }) => type === "crash" && at.on === "end");
    const from = timeline.find(({ type }) => type === "fault")?.revision;
    if (!isRestart || from === undefined || (idle?.writes ?? 0) > 0) return [];
    const changed = changes.filter(
      ({ revision, by, type, object, previous }) =>
        revision > from && by === "operator" && type === "updated" && content(object) !== content(previous),
    );
    return [
      ...new Set(
        changed.map(({ resource, name }) => `after a restart, the operator changed ${resource}/${name} again`),
      ),
    ];
  },
};

/** What an object is, without its status and metadata. */
function content(object: AnyObject | undefined): string {
  return JSON.stringify(object, (key, value: unknown) => (key === "metadata" || key === "status" ? undefined : value));
}
