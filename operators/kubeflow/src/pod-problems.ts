import type { ContainerStatus, Pod } from "konverge/kinds";
import { podProblem, type WorkloadProblem } from "konverge/pods";
import { isActive, type JobPod } from "./job-pods.ts";
import type { ReportedEvent } from "./job-report.ts";

/** The warnings about the active pods, worded as upstream's. */
export function podEvents(pods: readonly JobPod[]): ReportedEvent[] {
  return pods.filter(isActive).flatMap(({ pod }) => eventsOf(pod));
}

function eventsOf({ metadata, status }: Pod): ReportedEvent[] {
  const own = (status?.containerStatuses ?? []).length > 0 ? status?.containerStatuses : status?.initContainerStatuses;
  if (own && own.length > 0) return own.flatMap((container) => containerEvents(metadata.name, container));
  const [last] = [...(status?.conditions ?? [])].sort(
    (a, b) => Date.parse(b.lastTransitionTime ?? "") - Date.parse(a.lastTransitionTime ?? ""),
  );
  if (!last || last.status === "True") return [];
  const message = `Error pod ${metadata.name} condition message: ${last.message ?? ""}`;
  return [{ type: "Warning", reason: last.reason || last.type, message }];
}

function containerEvents(pod: string, { name, state }: ContainerStatus): ReportedEvent[] {
  const { terminated, waiting } = state ?? {};
  const where = `Error pod ${pod} container ${name}`;
  if (terminated && terminated.exitCode !== 0) {
    const message = `${where} exitCode: ${terminated.exitCode} terminated message: ${terminated.message ?? ""}`;
    return [{ type: "Warning", reason: terminated.reason || "Error", message }];
  }
  if (!waiting?.message) return [];
  return [
    { type: "Warning", reason: waiting.reason || "Waiting", message: `${where} waiting message: ${waiting.message}` },
  ];
}

/** Why the first of the stuck pods does not run, with a message that stays the same from attempt to attempt. */
export function obstacleIn(pods: readonly JobPod[]): WorkloadProblem | undefined {
  for (const { pod } of pods.filter(isActive)) {
    const obstacle = obstacleOf(pod);
    if (obstacle) return { ...obstacle, message: `pod ${pod.metadata.name}: ${obstacle.message}` };
  }
  return undefined;
}

/** The reasons under which jobs report these: upstream's, or Kubernetes' own. */
function obstacleOf(pod: Pod): WorkloadProblem | undefined {
  const problem = podProblem(pod);
  if (!problem) return undefined;
  const { reason, container, reported } = problem;
  if (reason === "ImageCannotBePulled") {
    const message = `the image ${container?.image} cannot be pulled: check its name and pull secrets`;
    return { reason: "ImagePullFailed", message };
  }
  // A container that has ended may be the end of the job, which is judged elsewhere.
  if (reason === "ContainerCrashes" && reported.reason !== "CrashLoopBackOff") return undefined;
  if (container)
    return { reason: reported.reason, message: `container ${container.name} does not start: see its logs` };
  return { reason: "Unschedulable", message: reported.message };
}
