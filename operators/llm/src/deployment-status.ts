import type { ReportedStatus } from "konverge";
import { formatLabelSelector } from "konverge/objects";
import { isMissed, type ObjectiveResult } from "konverge/sizing";
import type { RolloutPlan } from "./canary-rollout.ts";
import { adaptersServed } from "./inference-server.ts";
import type { ModelDeployment } from "./model-deployment.ts";
import { deploymentEndpoint, deploymentLabels } from "./model-deployment-children.ts";
import { objectiveStatus } from "./objective-status.ts";
import type { ObservedDeployment } from "./observed-deployment.ts";
import { type Decision, type Size, steadyNumber } from "./size-decision.ts";

/** What was decided about a ModelDeployment, for its status and its metrics. */
export interface DecidedDeployment {
  readonly size: Size;
  readonly decisions: readonly Decision[];
  readonly results: readonly ObjectiveResult[];
  readonly rollout: RolloutPlan;
}

export function deploymentStatus(
  deployment: ModelDeployment,
  { set, canary, pods, situation: { measured, ready } }: ObservedDeployment,
  { size, decisions, results, rollout }: DecidedDeployment,
): ReportedStatus<ModelDeployment> {
  const previous = deployment.status ?? {};
  const adapters = adaptersServed(deployment.spec, pods);
  const { cost } = deployment.spec;
  const replicas = set?.status?.replicas ?? 0;
  const paid = replicas + (canary?.replicas ?? 0);
  const latency = measured?.latency;
  return {
    endpoint: deploymentEndpoint(deployment),
    ...(adapters && { adapters }),
    replicas,
    readyReplicas: ready,
    neededReplicas: size.replicas,
    selector: formatLabelSelector({ matchLabels: deploymentLabels(deployment) }),
    ...(measured && { requestsPerSecond: steadyNumber(previous.requestsPerSecond, measured.load) }),
    ...(latency !== undefined && { latency: latencyText(previous.latency, latency) }),
    ...(results.length > 0 && { objectives: results.map(objectiveStatus) }),
    ...(cost && { costPerHour: Number((paid * cost.perReplicaHour).toFixed(4)) }),
    ...(size.idleSince && { idleSince: size.idleSince }),
    decisions: [...decisions],
    ...rollout.status,
  };
}

/** The numbers of a ModelDeployment's metrics. */
export function deploymentNumbers(
  deployment: ModelDeployment,
  { set, canary, situation: { measured, ready } }: ObservedDeployment,
  { size, results, rollout }: DecidedDeployment,
) {
  const { cost } = deployment.spec;
  const paid = (set?.status?.replicas ?? 0) + (canary?.replicas ?? 0);
  const latency = measured?.latency;
  return {
    wanted: size.need.replicas,
    ready,
    ...(measured && { load: measured.load }),
    ...(latency !== undefined && { latency }),
    ...measured?.percentiles,
    ...(results.some((one) => one.measured !== undefined) && { withinSla: Number(!results.some(isMissed)) }),
    ...(cost && { cost: paid * cost.perReplicaHour }),
    ...(canary && { canaryWeight: deployment.status?.canary?.weight ?? 0 }),
    ...(deployment.spec.rollout && { canaryRolledBack: Number(rollout.status.canary?.phase === "RolledBack") }),
  };
}

/** In milliseconds, so that it can be parsed again. */
function latencyText(before: string | undefined, seconds: number): string {
  const earlier = before === undefined ? undefined : Number.parseFloat(before);
  return `${steadyNumber(earlier, Math.max(1, seconds * 1000))}ms`;
}
