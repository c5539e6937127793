import type { ContainerStatus, Pod } from "konverge/kinds";
import { isActive, type JobPod } from "./job-pods.ts";
import type { Problem, Told } from "./job-report.ts";

const STUCK = /^(ErrImage|ImagePull|InvalidImage|CreateContainer|RunContainer|CrashLoop)/;

/** What is odd about the pods that shall run, in upstream's words. */
export function oddities(pods: readonly JobPod[]): Told[] {
  return pods.filter(isActive).flatMap(({ pod }) => odditiesOf(pod));
}

function odditiesOf({ metadata, status }: Pod): Told[] {
  const own = (status?.containerStatuses ?? []).length > 0 ? status?.containerStatuses : status?.initContainerStatuses;
  if (own && own.length > 0) return own.flatMap((container) => containerOddities(metadata.name, container));
  const [last] = [...(status?.conditions ?? [])].sort(
    (a, b) => Date.parse(b.lastTransitionTime ?? "") - Date.parse(a.lastTransitionTime ?? ""),
  );
  if (!last || last.status === "True") return [];
  const message = `Error pod ${metadata.name} condition message: ${last.message ?? ""}`;
  return [{ type: "Warning", reason: last.reason || last.type, message }];
}

function containerOddities(pod: string, { name, state }: ContainerStatus): Told[] {
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

/** What keeps the first of the stuck pods from running, worded so that it stays the same from try to try. */
export function obstacleIn(pods: readonly JobPod[]): Problem | undefined {
  for (const { pod } of pods.filter(isActive)) {
    const { name } = pod.metadata;
    const all = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
    const stuck = all.find(({ state }) => STUCK.test(state?.waiting?.reason ?? ""));
    if (stuck) {
      const { reason } = stuck.state!.waiting!;
      // What a node says of an image alternates between the try and the wait for the next.
      if (/Image/.test(reason!)) {
        const message = `pod ${name}: the image ${stuck.image} cannot be pulled: check its name and pull secrets`;
        return { reason: "ImagePullFailed", message };
      }
      return { reason: reason!, message: `pod ${name}: container ${stuck.name} does not start: see its logs` };
    }
    const scheduled = pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
    if (scheduled?.status === "False" && scheduled.reason === "Unschedulable") {
      return { reason: "Unschedulable", message: `pod ${name}: ${scheduled.message ?? ""}` };
    }
  }
  return undefined;
}
