import type { Condition, KubeObject } from "./object.ts";
import { valueAt } from "./simple-json-path.ts";

/**
 * Current: the desired state is reached. InProgress: not yet. Failed: it will not be reached without a change.
 * Terminating: the object is being deleted. NotFound: it does not exist. Unknown: its status cannot be interpreted.
 */
export type ReadinessStatus = "Current" | "InProgress" | "Failed" | "Terminating" | "NotFound" | "Unknown";

/** The readiness of an object, and why. */
export interface Readiness {
  status: ReadinessStatus;
  /** One word in CamelCase; empty if there is nothing to explain. */
  reason: string;
  message: string;
}

/** All is as it should be. */
export const current = (message: string): Readiness => ({ status: "Current", reason: "", message });
/** Not there yet. */
export const inProgress = (reason: string, message: string): Readiness => ({ status: "InProgress", reason, message });
/** It will not get there without help. */
export const failed = (reason: string, message: string): Readiness => ({ status: "Failed", reason, message });

interface Subject {
  object: KubeObject;
  conditions: readonly Condition[];
  /** Milliseconds since 1970. */
  now: number;
}

type Rule = (subject: Subject) => Readiness | undefined;

/**
 * Rules for built-in kinds, whose controllers set none of the standard conditions. Reasons and messages are those of
 * kstatus, for the kinds that it knows; the others are judged by their conditions, as with `kubectl wait`.
 */
export const builtInRules: Readonly<Record<string, Rule>> = {
  Secret: always,
  ConfigMap: always,
  "CronJob.batch": always,
  Pod: pod,
  Service: service,
  PersistentVolumeClaim: volumeClaim,
  PersistentVolume: volume,
  Namespace: namespace,
  ReplicationController: replicaSet,
  "ReplicaSet.apps": replicaSet,
  "Deployment.apps": deployment,
  "StatefulSet.apps": statefulSet,
  "DaemonSet.apps": daemonSet,
  "Job.batch": job,
  "PodDisruptionBudget.policy": () => current("AllowedDisruptions has been computed."),
  "HorizontalPodAutoscaler.autoscaling": autoscaler,
  "CustomResourceDefinition.apiextensions.k8s.io": customResourceDefinition,
  "APIService.apiregistration.k8s.io": apiService,
  "CertificateSigningRequest.certificates.k8s.io": signingRequest,
};

function always(): Readiness {
  return current("Resource is always ready");
}

function deployment({ object, conditions }: Subject): Readiness {
  const { spec, status } = numbersOf(object);
  for (const { type, reason } of conditions) {
    if (type === "Progressing" && reason === "ProgressDeadlineExceeded") {
      return failed(reason, "Progress deadline exceeded");
    }
  }
  const wanted = spec("replicas", 1);
  const [replicas, updated] = [status("replicas"), status("updatedReplicas")];
  const [ready, available] = [status("readyReplicas"), status("availableReplicas")];
  if (wanted > replicas) return inProgress("LessReplicas", `Replicas: ${replicas}/${wanted}`);
  if (wanted > updated) return inProgress("LessUpdated", `Updated: ${updated}/${wanted}`);
  if (replicas > wanted) return inProgress("ExtraPods", `Pending termination: ${replicas - wanted}`);
  if (updated > available) return inProgress("LessAvailable", `Available: ${available}/${updated}`);
  if (wanted > ready) return inProgress("LessReady", `Ready: ${ready}/${wanted}`);
  // Without a deadline, the controller does not report progress.
  const hasDeadline = spec("progressDeadlineSeconds", NO_DEADLINE) !== NO_DEADLINE;
  const isRolledOut = conditions.some(
    ({ type, status: state, reason }) =>
      type === "Progressing" && state === "True" && reason === "NewReplicaSetAvailable",
  );
  if (hasDeadline && !isRolledOut) return inProgress("ReplicaSetNotAvailable", "ReplicaSet not Available");
  if (!holds(conditions, "Available")) return inProgress("DeploymentNotAvailable", "Deployment not Available");
  return current(`Deployment is available. Replicas: ${replicas}`);
}

/** What the controller takes for "never". */
const NO_DEADLINE = 2 ** 31 - 1;

function replicaSet({ object, conditions }: Subject): Readiness {
  if (holds(conditions, "ReplicaFailure")) return inProgress("ReplicaFailure", "Replica Failure condition. Check Pods");
  const { spec, status } = numbersOf(object);
  const wanted = spec("replicas", 1);
  const [replicas, labelled] = [status("replicas"), status("fullyLabeledReplicas")];
  const [ready, available] = [status("readyReplicas"), status("availableReplicas")];
  if (wanted > labelled) return inProgress("LessLabelled", `Labelled: ${labelled}/${wanted}`);
  if (wanted > available) return inProgress("LessAvailable", `Available: ${available}/${wanted}`);
  if (wanted > ready) return inProgress("LessReady", `Ready: ${ready}/${wanted}`);
  if (replicas > wanted) return inProgress("ExtraPods", `Pending termination: ${replicas - wanted}`);
  return current(`${object.kind} is available. Replicas: ${replicas}`);
}

function statefulSet({ object }: Subject): Readiness {
  if (valueAt(object, ["spec", "updateStrategy", "type"]) === "OnDelete") {
    return current("StatefulSet is using the ondelete update strategy");
  }
  const { spec, status } = numbersOf(object);
  const wanted = spec("replicas", 1);
  const [replicas, ready] = [status("replicas"), status("readyReplicas")];
  const [existing, updated] = [status("currentReplicas"), status("updatedReplicas")];
  if (wanted > replicas) return inProgress("LessReplicas", `Replicas: ${replicas}/${wanted}`);
  if (wanted > ready) return inProgress("LessReady", `Ready: ${ready}/${wanted}`);
  if (replicas > wanted) return inProgress("ExtraPods", `Pending termination: ${replicas - wanted}`);
  const partition = valueAt(object, ["spec", "updateStrategy", "rollingUpdate", "partition"]);
  if (typeof partition === "number") {
    const due = wanted - partition;
    if (updated < due) return inProgress("PartitionRollout", `updated: ${updated}/${due}`);
    return current(`Partition rollout complete. updated: ${updated}`);
  }
  if (wanted > existing) return inProgress("LessCurrent", `current: ${existing}/${wanted}`);
  const revision = (name: string) => valueAt(object, ["status", name]) ?? "";
  if (revision("currentRevision") !== revision("updateRevision")) {
    return inProgress("RevisionMismatch", "Waiting for updated revision to match current");
  }
  return current(`All replicas scheduled as expected. Replicas: ${replicas}`);
}

function daemonSet({ object }: Subject): Readiness {
  // The controller always sets these, so without them it has not observed the object.
  if (object.metadata.generation === undefined) {
    return inProgress("NoGeneration", `${object.kind} metadata.generation not found`);
  }
  if (valueAt(object, ["status", "observedGeneration"]) === undefined) {
    return inProgress("NoObservedGeneration", `${object.kind} status.observedGeneration not found`);
  }
  const { status } = numbersOf(object);
  const wanted = status("desiredNumberScheduled", -1);
  const [scheduled, updated] = [status("currentNumberScheduled"), status("updatedNumberScheduled")];
  const [available, ready] = [status("numberAvailable"), status("numberReady")];
  if (wanted === -1) return inProgress("NoDesiredNumber", "Missing .status.desiredNumberScheduled");
  if (wanted > scheduled) return inProgress("LessCurrent", `Current: ${scheduled}/${wanted}`);
  if (wanted > updated) return inProgress("LessUpdated", `Updated: ${updated}/${wanted}`);
  if (wanted > available) return inProgress("LessAvailable", `Available: ${available}/${wanted}`);
  if (wanted > ready) return inProgress("LessReady", `Ready: ${ready}/${wanted}`);
  return current(`All replicas scheduled as expected. Replicas: ${wanted}`);
}

/** A Job is as it should be while it runs, not only when it is done. */
function job({ object, conditions }: Subject): Readiness {
  const { spec, status } = numbersOf(object);
  const completions = spec("completions", spec("parallelism", 1));
  const [succeeded, active, failures] = [status("succeeded"), status("active"), status("failed")];
  for (const { type, status: state } of conditions) {
    if (state !== "True") continue;
    if (type === "Complete") return current(`Job Completed. succeeded: ${succeeded}/${completions}`);
    if (type === "Failed") return failed("JobFailed", `Job Failed. failed: ${failures}/${completions}`);
  }
  if (!valueAt(object, ["status", "startTime"])) return inProgress("JobNotStarted", "Job not started");
  return current(`Job in progress. success:${succeeded}, active: ${active}, failed: ${failures}`);
}

/** How long a pod may be without a node before that counts as failure. */
const SCHEDULE_WINDOW = 15_000;

function pod({ object, conditions, now }: Subject): Readiness {
  const phase = String(valueAt(object, ["status", "phase"]) ?? "");
  switch (phase) {
    case "":
      return inProgress("PodNotObserved", "Pod phase not available");
    case "Succeeded":
      return current("Pod has completed successfully");
    case "Failed":
      return current("Pod has completed, but not successfully");
    case "Pending": {
      const isUnschedulable = conditions.some(
        ({ type, status, reason }) => type === "PodScheduled" && status === "False" && reason === "Unschedulable",
      );
      if (!isUnschedulable) return inProgress("PodPending", "Pod is in the Pending phase");
      const isNew = now - SCHEDULE_WINDOW < Date.parse(object.metadata.creationTimestamp ?? "");
      if (isNew) return inProgress("PodNotScheduled", "Pod has not been scheduled");
      return failed("PodUnschedulable", "Pod could not be scheduled");
    }
    case "Running": {
      if (holds(conditions, "Ready")) return current("Pod is Ready");
      const looping = crashLoopingContainers(object);
      if (looping.length === 0) return inProgress("PodRunningNotReady", "Pod is running but is not Ready");
      return failed("ContainerCrashLooping", `Containers in CrashLoop state: ${looping.join(",")}`);
    }
    default:
      return { status: "Unknown", reason: "UnknownPhase", message: `unknown phase ${phase}` };
  }
}

function crashLoopingContainers(object: KubeObject): string[] {
  const statuses = (valueAt(object, ["status", "containerStatuses"]) ?? []) as { name: string }[];
  return statuses
    .filter((container) => valueAt(container, ["state", "waiting", "reason"]) === "CrashLoopBackOff")
    .map(({ name }) => name);
}

function service({ object }: Subject): Readiness {
  if (valueAt(object, ["spec", "type"]) === "LoadBalancer" && !valueAt(object, ["spec", "clusterIP"])) {
    return inProgress("NoIPAssigned", "ClusterIP not set. Service type: LoadBalancer");
  }
  return current("Service is ready");
}

function volumeClaim({ object }: Subject): Readiness {
  const phase = valueAt(object, ["status", "phase"]) ?? "unknown";
  return phase === "Bound" ? current("PVC is Bound") : inProgress("NotBound", `PVC is not Bound. phase: ${phase}`);
}

function volume({ object }: Subject): Readiness {
  const phase = valueAt(object, ["status", "phase"]) ?? "Pending";
  if (phase === "Pending") return inProgress("Pending", "PV is not available yet");
  if (phase !== "Failed") return current(`PV is ${phase}`);
  const message = valueAt(object, ["status", "message"]);
  return failed("Failed", message ? `PV has failed: ${message}` : "PV has failed");
}

function namespace({ object }: Subject): Readiness {
  const phase = valueAt(object, ["status", "phase"]);
  if (phase === "Terminating") return { status: "Terminating", reason: "", message: "Namespace is terminating" };
  return phase === "Active" ? current("Namespace is active") : inProgress("NotActive", "Namespace is not active yet");
}

function autoscaler({ conditions }: Subject): Readiness {
  const able = conditions.find(({ type }) => type === "AbleToScale");
  const active = conditions.find(({ type }) => type === "ScalingActive");
  if (!able) return inProgress("NotObserved", "HPA has not been observed yet");
  if (able.status === "False") return inProgress(able.reason, able.message);
  // A target scaled to zero by hand switches scaling off, which is as it should be.
  if (active?.status !== "False" || active.reason === "ScalingDisabled") return current("HPA is able to scale");
  return /^Invalid/.test(active.reason)
    ? failed(active.reason, active.message)
    : inProgress(active.reason, active.message);
}

function customResourceDefinition({ conditions }: Subject): Readiness {
  for (const { type, status, reason, message } of conditions) {
    if (type === "NamesAccepted" && status === "False") return failed(reason, message);
    if (type !== "Established") continue;
    if (status === "False" && reason !== "Installing") return failed(reason, message);
    if (status === "True") return current("CRD is established");
  }
  return inProgress("Installing", "Install in progress");
}

function apiService({ conditions }: Subject): Readiness {
  const available = conditions.find(({ type }) => type === "Available");
  if (available?.status === "True") return current("APIService is available");
  return inProgress(available?.reason ?? "NotObserved", available?.message ?? "APIService has not been observed yet");
}

function signingRequest({ object, conditions }: Subject): Readiness {
  for (const { type, status, reason, message } of conditions) {
    if (status === "True" && (type === "Denied" || type === "Failed")) return failed(reason || type, message);
  }
  if (!holds(conditions, "Approved")) return inProgress("NotApproved", "Waiting for approval");
  if (!valueAt(object, ["status", "certificate"])) return inProgress("NotIssued", "Waiting for the certificate");
  return current("Certificate is issued");
}

function holds(conditions: readonly Condition[], type: string): boolean {
  return conditions.some((condition) => condition.type === type && condition.status === "True");
}

/** Readers of whole numbers in spec and status, which are absent when zero. */
function numbersOf(object: KubeObject) {
  const reader =
    (part: string) =>
    (name: string, fallback = 0): number => {
      const value = valueAt(object, [part, name]);
      return typeof value === "number" ? value : fallback;
    };
  return { spec: reader("spec"), status: reader("status") };
}
