import type { ContainerStatus, Job, Pod, PodFailurePolicyRule } from "@konverge/kinds";
import { IndexSet } from "./indexes.ts";

type PodFailurePolicy = NonNullable<Job["spec"]>["podFailurePolicy"];
type Action = PodFailurePolicyRule["action"];

/** What a failed pod means: whether it counts, and the message with which it fails the whole Job, if it does. */
export interface Verdict {
  counts: boolean;
  action: Action | undefined;
  failsJob: string | undefined;
}

/** Only pods that have really ended are replaced, not those that are about to. */
export function replacesOnlyFailed({ spec }: Job): boolean {
  return (
    spec?.podReplacementPolicy === "Failed" || (!spec?.podReplacementPolicy && spec?.podFailurePolicy !== undefined)
  );
}

/** Whether a pod counts as failed for its Job. */
export function hasFailed(pod: Pod, job: Job): boolean {
  if (pod.status?.phase === "Failed") return true;
  if (replacesOnlyFailed(job)) return false;
  return pod.metadata.deletionTimestamp !== undefined && pod.status?.phase !== "Succeeded";
}

/** What the first matching rule of a pod failure policy says about a failed pod. */
export function judgeFailure(policy: PodFailurePolicy, pod: Pod): Verdict {
  for (const [i, rule] of (policy?.rules ?? []).entries()) {
    const why = matchOf(rule, pod);
    if (why === undefined) continue;
    const { action } = rule;
    const failsJob = action === "FailJob" ? `${why} matching FailJob rule at index ${i}` : undefined;
    return { action, counts: action !== "Ignore", failsJob };
  }
  return { action: undefined, counts: true, failsJob: undefined };
}

function matchOf({ onExitCodes, onPodConditions }: PodFailurePolicyRule, pod: Pod): string | undefined {
  const name = `${pod.metadata.namespace}/${pod.metadata.name}`;
  const { containerStatuses = [], initContainerStatuses = [], conditions = [] } = pod.status ?? {};
  if (onExitCodes) {
    const { containerName, operator, values } = onExitCodes;
    const matches = ({ name: container, state }: ContainerStatus) => {
      const code = state?.terminated?.exitCode;
      if (!code || (containerName && container !== containerName)) return false;
      return values.includes(code) === (operator === "In");
    };
    const found = [...containerStatuses, ...initContainerStatuses].find(matches);
    return (
      found && `Container ${found.name} for pod ${name} failed with exit code ${found.state!.terminated!.exitCode}`
    );
  }
  const found = conditions.find(({ type, status }) =>
    onPodConditions?.some((pattern) => pattern.type === type && (pattern.status ?? "True") === status),
  );
  return found && `Pod ${name} has condition ${found.type}`;
}

/** Why the Job counts as a success already, by its success policy. */
export function successByPolicy({ spec }: Job, succeeded: IndexSet): string | undefined {
  for (const [i, { succeededIndexes, succeededCount }] of (spec?.successPolicy?.rules ?? []).entries()) {
    const wanted = succeededIndexes === undefined ? undefined : IndexSet.parse(succeededIndexes, spec?.completions);
    const among = wanted ? countAmong(wanted, succeeded, spec?.completions ?? 0) : succeeded.size;
    if (succeededCount !== undefined ? among >= succeededCount : wanted !== undefined && among >= wanted.size) {
      return `Matched rules at index ${i}`;
    }
  }
  return undefined;
}

function countAmong(wanted: IndexSet, succeeded: IndexSet, completions: number): number {
  let count = 0;
  for (let i = 0; i < completions; i++) if (wanted.has(i) && succeeded.has(i)) count++;
  return count;
}
