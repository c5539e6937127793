import type { Snapshot } from "./snapshot.ts";

/** Something that this operator does otherwise, on purpose. */
export interface Difference {
  readonly name: string;
  /** Why ours is better. */
  readonly why: string;
  /** Takes the difference out of upstream's snapshot, or out of ours. The same object, if it is not in it. */
  readonly theirs?: (snapshot: Snapshot) => Snapshot;
  readonly ours?: (snapshot: Snapshot) => Snapshot;
}

type Status = {
  conditions?: { type: string; status: string; message?: string }[];
  replicaStatuses?: Record<string, { selector?: string }>;
  completionTime?: string;
  lastReconcileTime?: string;
};
type PodShape = { spec: { initContainers?: { name: string; command?: unknown }[] } };

const withStatus = (snapshot: Snapshot, change: (status: Status) => Status): Snapshot =>
  typeof snapshot.status === "object" && snapshot.status !== null
    ? { ...snapshot, status: change(snapshot.status as Status) }
    : snapshot;

const withoutEvents =
  (pattern: RegExp) =>
  (snapshot: Snapshot): Snapshot => ({ ...snapshot, events: snapshot.events.filter((text) => !pattern.test(text)) });

const without =
  (field: keyof Status) =>
  (snapshot: Snapshot): Snapshot =>
    withStatus(snapshot, ({ [field]: _, ...rest }) => rest);

const maskedScript = (snapshot: Snapshot): Snapshot => ({
  ...snapshot,
  pods: (snapshot.pods as PodShape[]).map((pod) =>
    pod.spec.initContainers
      ? {
          ...pod,
          spec: {
            ...pod.spec,
            initContainers: pod.spec.initContainers.map((one) =>
              one.name === "init-pytorch" ? { ...one, command: "waits for the master" } : one,
            ),
          },
        }
      : pod,
  ),
});

const withoutSelectors = (snapshot: Snapshot): Snapshot =>
  withStatus(snapshot, (status) => ({
    ...status,
    ...(status.replicaStatuses && {
      replicaStatuses: Object.fromEntries(
        Object.entries(status.replicaStatuses).map(([type, { selector: _, ...rest }]) => [type, rest]),
      ),
    }),
  }));

/** All that hold for every job. */
export const EVERYWHERE: readonly Difference[] = [
  {
    name: "the script in which workers wait for their master",
    why: "it is our own; name, image and resources are the same, and both can be replaced by a template",
    ours: maskedScript,
    theirs: maskedScript,
  },
  {
    name: "pods and Services that are made twice",
    why: "upstream sometimes creates objects that its cache does not contain yet, and reports the failure",
    theirs: withoutEvents(/ already exists$/),
  },
];

/** Upstream stops at the first type that decides, in an order that changes from run to run. */
export const SELECTORS: Difference = {
  name: "selectors of replicas in the status of a finished PyTorchJob",
  why: "upstream loses those of the types that it evaluates later; here they stay",
  ours: withoutSelectors,
  theirs: withoutSelectors,
};

export const FATAL_EXIT_CODE: readonly Difference[] = [
  {
    name: "completionTime of a job that a fatal exit code ended",
    why: "upstream leaves it out for all kinds but TFJob, and then cannot delete the job after its TTL",
    ours: without("completionTime"),
    theirs: without("completionTime"),
  },
  {
    name: "a restart that is reported but does not happen",
    why: "upstream reports a restart, or another failure, together with the fatal one",
    ours: withoutEvents(/Restarting|has failed because/),
    theirs: withoutEvents(/Restarting|has failed because/),
  },
];

/** A problem is reported in a condition for as long as it lasts. */
export const STALLED_CONDITION: Difference = {
  name: "the condition Stalled",
  why: "upstream reports problems only in events, which expire after an hour",
  ours: (snapshot) => {
    const change = ({ conditions, ...status }: Status): Status => ({
      ...status,
      ...(conditions && { conditions: conditions.filter(({ type }) => type !== "Stalled") }),
    });
    return withoutEvents(/^Warning ImagePullFailed/)(withStatus(snapshot, change));
  },
};

export const WAITS_FOR_GROUP: Difference = {
  name: "status.lastReconcileTime",
  why: "upstream writes it while a PodGroup is not admitted, or not yet in its cache after it was created; here nothing is written",
  theirs: without("lastReconcileTime"),
};

export const DELETED_JOB: Difference = {
  name: "the event for the deletion of a job by its TTL",
  why: "upstream calls it SuccessfulDeletePod for PyTorchJob and MXJob; here it is SuccessfulDeleteJob for all",
  ours: withoutEvents(/Deleted job/),
  // It also tries to delete the job again after its deletion.
  theirs: withoutEvents(/Deleted job|Error deleting: .* not found/),
};

/** Whether an operator observes a pod while it terminates, or only its deletion, depends on timing in both. */
export const OBSERVED_LEAVING: Difference = {
  name: "the restart for a deleted pod",
  why: "it is reported if the pod is observed while it terminates",
  ours: withoutEvents(/Restarting/),
  theirs: withoutEvents(/Restarting/),
};
