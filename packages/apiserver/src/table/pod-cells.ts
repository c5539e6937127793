import { ageSince } from "@konverge/core";
import type { ContainerStatus, Pod } from "@konverge/kinds";
import { ageOf, type CellsOf, hasCondition, NONE } from "./cells.ts";

/** What the columns Ready, Status and Restarts say, gathered over a pod's containers. */
interface Summary {
  ready: number;
  total: number;
  reason: string;
  restarts: number;
  lastRestart: string;
}

export const podCells: CellsOf<Pod> = (pod, now) => {
  const { ready, total, reason, restarts, lastRestart } = summarize(pod);
  const { spec, status } = pod;
  const gates = spec?.readinessGates ?? [];
  const met = gates.filter(({ conditionType }) => hasCondition(status?.conditions, conditionType)).length;
  return [
    pod.metadata.name,
    `${ready}/${total}`,
    reason,
    restarts !== 0 && lastRestart !== "" ? `${restarts} (${ageSince(lastRestart, now)} ago)` : String(restarts),
    ageOf(pod, now),
    status?.podIPs?.[0]?.ip || NONE,
    spec?.nodeName || NONE,
    status?.nominatedNodeName || NONE,
    gates.length > 0 ? `${met}/${gates.length}` : NONE,
  ];
};

/** A finished pod is greyed out by clients that know the condition. */
export function podRowConditions(pod: Pod): object[] | undefined {
  const messages: Record<string, string> = {
    Succeeded: "The pod has completed successfully.",
    Failed: "The pod failed.",
  };
  const reason = pod.status?.phase ?? "";
  const message = messages[reason];
  return message === undefined ? undefined : [{ type: "Completed", status: "True", reason, message }];
}

function summarize(pod: Pod): Summary {
  const { spec, status } = pod;
  const sidecars = new Set(
    (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always").map(({ name }) => name),
  );
  const summary: Summary = {
    ready: 0,
    total: (spec?.containers ?? []).length + sidecars.size,
    reason: startingReason(pod),
    restarts: 0,
    lastRestart: "",
  };
  const initializing = initContainers(pod, sidecars, summary);
  if (!initializing || hasCondition(status?.conditions, "Initialized")) mainContainers(pod, sidecars, summary);
  if (pod.metadata.deletionTimestamp) {
    if (status?.reason === "NodeLost") summary.reason = "Unknown";
    else if (status?.phase !== "Succeeded" && status?.phase !== "Failed") summary.reason = "Terminating";
  }
  return summary;
}

function startingReason({ status }: Pod): string {
  const gated = status?.conditions?.some(({ type, reason }) => type === "PodScheduled" && reason === "SchedulingGated");
  return gated ? "SchedulingGated" : status?.reason || status?.phase || "";
}

/** Goes through the init containers up to the one at work; true if there is one. */
function initContainers({ spec, status }: Pod, sidecars: ReadonlySet<string>, summary: Summary): boolean {
  for (const [index, container] of (status?.initContainerStatuses ?? []).entries()) {
    countRestarts(container, summary);
    const { terminated, waiting } = container.state ?? {};
    if (terminated?.exitCode === 0) continue;
    if (sidecars.has(container.name) && container.started) {
      if (container.ready) summary.ready++;
      continue;
    }
    if (terminated) summary.reason = `Init:${terminatedReason(terminated)}`;
    else if (waiting?.reason && waiting.reason !== "PodInitializing") summary.reason = `Init:${waiting.reason}`;
    else summary.reason = `Init:${index}/${spec?.initContainers?.length ?? 0}`;
    return true;
  }
  return false;
}

/** Once initialization is over, only sidecars' and main containers' restarts count. */
function mainContainers({ status }: Pod, sidecars: ReadonlySet<string>, summary: Summary): void {
  summary.restarts = 0;
  summary.lastRestart = "";
  for (const container of status?.initContainerStatuses ?? [])
    if (sidecars.has(container.name)) countRestarts(container, summary);
  let running = false;
  let failure = "";
  for (const container of (status?.containerStatuses ?? []).toReversed()) {
    countRestarts(container, summary);
    const { waiting, terminated } = container.state ?? {};
    if (waiting?.reason) summary.reason = waiting.reason;
    else if (terminated) {
      summary.reason = terminatedReason(terminated);
      if (terminated.exitCode !== 0) failure = summary.reason;
    } else if (container.ready && container.state?.running) {
      running = true;
      summary.ready++;
    }
  }
  if (summary.reason !== "Completed") return;
  if (running && hasCondition(status?.conditions, "Ready")) summary.reason = "Running";
  else if (failure !== "") summary.reason = failure;
  else if (running) summary.reason = "NotReady";
}

function countRestarts({ restartCount, lastState }: ContainerStatus, summary: Summary): void {
  summary.restarts += restartCount;
  const finished = lastState?.terminated?.finishedAt ?? "";
  if (finished > summary.lastRestart) summary.lastRestart = finished;
}

function terminatedReason({
  reason,
  signal,
  exitCode,
}: {
  reason?: string;
  signal?: number;
  exitCode: number;
}): string {
  return reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`);
}
