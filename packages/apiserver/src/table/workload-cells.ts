import {
  ageSince,
  controllerOf,
  formatLabelRequirements,
  formatLabelSelector,
  humanDuration,
  type KubeObject,
  parseApiVersion,
  requirementsOf,
} from "@konverge/core";
import type {
  ControllerRevision,
  CronJob,
  DaemonSet,
  Deployment,
  HorizontalPodAutoscaler,
  Job,
  PodDisruptionBudget,
  PodTemplate,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
} from "@konverge/kinds";
import { ageOf, type Cell, type CellsOf, containerCells, hasCondition, labelsText, NONE, UNSET } from "./cells.ts";
import { metricsText } from "./hpa-metrics.ts";

export const deploymentCells: CellsOf<Deployment> = (deployment, now) => {
  const { spec, status } = deployment;
  return [
    deployment.metadata.name,
    `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    status?.updatedReplicas ?? 0,
    status?.availableReplicas ?? 0,
    ageOf(deployment, now),
    ...containerCells(spec?.template.spec?.containers),
    formatLabelRequirements(requirementsOf(spec?.selector ?? {})),
  ];
};

export const replicaSetCells: CellsOf<ReplicaSet> = (set, now) =>
  replicaCells(set, now, formatLabelSelector(set.spec?.selector));

export const replicationControllerCells: CellsOf<ReplicationController> = (set, now) =>
  replicaCells(set, now, labelsText(set.spec?.selector));

function replicaCells(set: ReplicaSet | ReplicationController, now: number, selector: string): Cell[] {
  const { spec, status } = set;
  return [
    set.metadata.name,
    spec?.replicas ?? 0,
    status?.replicas ?? 0,
    status?.readyReplicas ?? 0,
    ageOf(set, now),
    ...containerCells(spec?.template?.spec?.containers),
    selector,
  ];
}

/** What a scale subresource says of its workload. */
export const scaleCells: CellsOf<KubeObject & { spec?: { replicas?: number }; status?: { replicas?: number } }> = (
  scale,
  now,
) => [scale.metadata.name, scale.spec?.replicas ?? 0, scale.status?.replicas ?? 0, ageOf(scale, now)];

export const statefulSetCells: CellsOf<StatefulSet> = (set, now) => [
  set.metadata.name,
  `${set.status?.readyReplicas ?? 0}/${set.spec?.replicas ?? 0}`,
  ageOf(set, now),
  ...containerCells(set.spec?.template.spec?.containers),
];

export const daemonSetCells: CellsOf<DaemonSet> = (set, now) => {
  const { spec, status } = set;
  return [
    set.metadata.name,
    status?.desiredNumberScheduled ?? 0,
    status?.currentNumberScheduled ?? 0,
    status?.numberReady ?? 0,
    status?.updatedNumberScheduled ?? 0,
    status?.numberAvailable ?? 0,
    labelsText(spec?.template.spec?.nodeSelector),
    ageOf(set, now),
    ...containerCells(spec?.template.spec?.containers),
    formatLabelSelector(spec?.selector),
  ];
};

export const controllerRevisionCells: CellsOf<ControllerRevision> = (revision, now) => {
  const owner = controllerOf(revision);
  const group = owner && parseApiVersion(owner.apiVersion).group;
  const kind = owner && (group ? `${owner.kind}.${group}` : owner.kind).toLowerCase();
  return [
    revision.metadata.name,
    owner ? `${kind}/${owner.name}` : NONE,
    Number(revision.revision),
    ageOf(revision, now),
  ];
};

export const podTemplateCells: CellsOf<PodTemplate> = ({ metadata, template }) => [
  metadata.name,
  ...containerCells(template?.spec?.containers),
  labelsText(template?.metadata?.labels),
];

/** The states of a job that a condition reports, most final first; deletion comes after the end. */
const JOB_ENDS = [
  ["Complete", "Complete"],
  ["Failed", "Failed"],
] as const;
const JOB_STATES = ["Suspended", "FailureTarget", "SuccessCriteriaMet"];

export const jobCells: CellsOf<Job> = (job, now) => [
  job.metadata.name,
  jobStatus(job),
  completions(job),
  jobDuration(job, now),
  ageOf(job, now),
  ...containerCells(job.spec?.template.spec?.containers),
  formatLabelSelector(job.spec?.selector),
];

function jobStatus({ metadata, status }: Job): string {
  for (const [type, text] of JOB_ENDS) if (hasCondition(status?.conditions, type)) return text;
  if (metadata.deletionTimestamp) return "Terminating";
  return JOB_STATES.find((type) => hasCondition(status?.conditions, type)) ?? "Running";
}

function completions({ spec, status }: Job): string {
  const succeeded = status?.succeeded ?? 0;
  if (spec?.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const parallelism = spec?.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration({ status }: Job, now: number): string {
  if (!status?.startTime) return "";
  const end = status.completionTime ? Date.parse(status.completionTime) : now;
  return humanDuration(end - Date.parse(status.startTime));
}

export const cronJobCells: CellsOf<CronJob> = (job, now) => {
  const { spec, status } = job;
  return [
    job.metadata.name,
    spec?.schedule ?? "",
    spec?.timeZone ?? NONE,
    spec?.suspend === undefined ? UNSET : spec.suspend ? "True" : "False",
    status?.active?.length ?? 0,
    status?.lastScheduleTime ? ageSince(status.lastScheduleTime, now) : NONE,
    ageOf(job, now),
    ...containerCells(spec?.jobTemplate.spec?.template.spec?.containers),
    formatLabelSelector(spec?.jobTemplate.spec?.selector),
  ];
};

export const podDisruptionBudgetCells: CellsOf<PodDisruptionBudget> = (budget, now) => [
  budget.metadata.name,
  String(budget.spec?.minAvailable ?? "N/A"),
  String(budget.spec?.maxUnavailable ?? "N/A"),
  budget.status?.disruptionsAllowed ?? 0,
  ageOf(budget, now),
];

export const horizontalPodAutoscalerCells: CellsOf<HorizontalPodAutoscaler> = (autoscaler, now) => {
  const { spec, status } = autoscaler;
  return [
    autoscaler.metadata.name,
    `${spec?.scaleTargetRef.kind}/${spec?.scaleTargetRef.name}`,
    metricsText(spec?.metrics ?? [], status?.currentMetrics ?? []),
    spec?.minReplicas === undefined ? UNSET : String(spec.minReplicas),
    spec?.maxReplicas ?? 0,
    status?.currentReplicas ?? 0,
    ageOf(autoscaler, now),
  ];
};
