import type { ContainerState, ContainerStatus, Pod, PodCondition, PodStatus } from "@konverge/kinds";
import type { Place } from "../images/run.ts";
import type { Ended, SimulatedContainer } from "./container.ts";
import type { PodResize } from "./resize.ts";

/** The inputs of a pod's status. */
export interface PodFacts {
  readonly pod: Pod;
  readonly place: Place;
  readonly containers: readonly SimulatedContainer[];
  /** It has been ended as a whole: evicted, or past its deadline. */
  readonly failure: { reason: string; message: string } | undefined;
  /** All that can end has ended, because the pod is being deleted. */
  readonly finished: boolean;
  readonly startTime: string;
  readonly now: number;
  readonly resize: PodResize;
}

const time = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** The status that a kubelet reports. */
export function podStatus(facts: PodFacts): PodStatus {
  const { pod, place, containers, failure } = facts;
  const phase = phaseOf(facts);
  const statuses = (...roles: string[]) =>
    containers.filter(({ role }) => roles.includes(role)).map((container) => containerStatus(facts, container));
  const init = statuses("init", "sidecar");
  const ephemeral = statuses("ephemeral");
  return {
    phase,
    ...(pod.metadata.generation && { observedGeneration: pod.metadata.generation }),
    conditions: conditionsOf(facts, phase),
    ...(failure && failure),
    hostIP: place.hostIP,
    hostIPs: [{ ip: place.hostIP }],
    podIP: place.podIP,
    podIPs: [{ ip: place.podIP }],
    startTime: facts.startTime,
    ...(init.length > 0 && { initContainerStatuses: init }),
    containerStatuses: statuses("main"),
    ...(ephemeral.length > 0 && { ephemeralContainerStatuses: ephemeral }),
  };
}

function phaseOf({ pod, containers, failure, finished }: PodFacts): NonNullable<PodStatus["phase"]> {
  if (failure) return "Failed";
  const policy = pod.spec?.restartPolicy ?? "Always";
  const mains = containers.filter(({ role }) => role === "main");
  const ended = (container: SimulatedContainer) => container.state === "terminated";
  if (finished) return mains.every((container) => container.succeeded) ? "Succeeded" : "Failed";
  const init = containers.filter(({ role }) => role === "init");
  if (init.some((container) => !container.succeeded)) {
    return policy === "Never" && init.some((container) => ended(container) && !container.succeeded)
      ? "Failed"
      : "Pending";
  }
  if (mains.some((container) => container.state === "waiting" && !container.last)) return "Pending";
  if (!mains.every(ended) || policy === "Always") return "Running";
  if (mains.every((container) => container.succeeded)) return "Succeeded";
  return policy === "Never" ? "Failed" : "Running";
}

function conditionsOf(facts: PodFacts, phase: string): PodCondition[] {
  const { pod, containers, resize } = facts;
  const mains = containers.filter(({ role }) => role === "main" || role === "sidecar");
  const unready = mains.filter((container) => !container.ready).map(({ spec }) => spec.name);
  const incomplete = containers
    .filter((container) =>
      container.role === "init" ? !container.succeeded : container.role === "sidecar" && !container.started,
    )
    .map(({ spec }) => spec.name);
  const ended = phase === "Succeeded" || phase === "Failed";
  const stated = (type: string, isTrue: boolean, reason = "", message = ""): PodCondition => {
    const before = pod.status?.conditions?.find((condition) => condition.type === type);
    const status = isTrue ? "True" : "False";
    const since = before?.status === status ? before.lastTransitionTime : undefined;
    return {
      type,
      status,
      observedGeneration: pod.metadata.generation ?? 1,
      lastProbeTime: null as never,
      lastTransitionTime: since ?? time(facts.now),
      ...(reason !== "" && { reason }),
      ...(message !== "" && { message }),
    };
  };
  const notReady = unready.length > 0;
  const unreadyText = `containers with unready status: [${unready.join(" ")}]`;
  const why: [string, string] = !notReady
    ? ["", ""]
    : phase === "Succeeded"
      ? ["PodCompleted", ""]
      : phase === "Failed"
        ? ["PodFailed", ""]
        : ["ContainersNotReady", unreadyText];
  const gates = (pod.spec?.readinessGates ?? []).filter(
    ({ conditionType }) => !pod.status?.conditions?.some((one) => one.type === conditionType && one.status === "True"),
  );
  const gated = gates.map(
    ({ conditionType }) => `corresponding condition of pod readiness gate "${conditionType}" does not exist.`,
  );
  const ready = notReady
    ? stated("Ready", false, ...why)
    : gates.length > 0
      ? stated("Ready", false, "ReadinessGatesNotReady", gated.join(", "))
      : stated("Ready", true);
  const initialized =
    incomplete.length === 0 || (ended && phase === "Succeeded")
      ? stated("Initialized", true, ended && phase === "Succeeded" ? "PodCompleted" : "")
      : stated(
          "Initialized",
          false,
          "ContainersNotInitialized",
          `containers with incomplete status: [${incomplete.join(" ")}]`,
        );
  return [
    stated("PodReadyToStartContainers", !ended),
    initialized,
    ready,
    notReady ? stated("ContainersReady", false, ...why) : stated("ContainersReady", true),
    stated("PodScheduled", true),
    ...(resize.problem === undefined ? [] : [stated("PodResizePending", true, "Deferred", resize.problem)]),
    ...(resize.isInProgress ? [stated("PodResizeInProgress", true)] : []),
  ];
}

function containerStatus(facts: PodFacts, container: SimulatedContainer): ContainerStatus {
  const { spec, last, restarts } = container;
  const image = spec.image ?? "";
  const isInit = container.role === "init";
  return {
    name: spec.name,
    state: stateOf(facts, container),
    lastState: last ? { terminated: terminated(last) } : {},
    ready: isInit ? container.succeeded : container.ready,
    restartCount: restarts,
    image,
    imageID: container.id === "" ? "" : imageId(image),
    ...(container.id !== "" && { containerID: container.id }),
    started: container.role !== "init" && container.started,
    ...resourcesOf(container, facts.resize.actual(container)),
  };
}

function resourcesOf(
  { state, resources: allocated }: SimulatedContainer,
  resources: SimulatedContainer["resources"],
): Partial<ContainerStatus> {
  if (state !== "running" || !(resources?.requests || resources?.limits)) return {};
  return { ...(allocated?.requests && { allocatedResources: allocated.requests }), resources };
}

function stateOf({ containers }: PodFacts, container: SimulatedContainer): ContainerState {
  if (container.state === "running") return { running: { startedAt: time(container.startedAt) } };
  if (container.state === "terminated" && container.ended) return { terminated: terminated(container.ended) };
  const initial = containers.some(({ role }) => role === "init" || role === "sidecar")
    ? "PodInitializing"
    : "ContainerCreating";
  const reason = container.reason || initial;
  return { waiting: { reason, ...(container.message !== "" && { message: container.message }) } };
}

function terminated({ exitCode, reason, message, signal, startedAt, finishedAt, id }: Ended) {
  return {
    exitCode,
    reason,
    ...(message !== undefined && { message }),
    ...(signal !== undefined && { signal }),
    startedAt: time(startedAt),
    finishedAt: time(finishedAt),
    containerID: id,
  };
}

/** As a node would name it: the same for the same image. */
function imageId(image: string): string {
  return image.includes("@sha256:") ? image : `simulated.konverge.dev/${image}`;
}
