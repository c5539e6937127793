import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnyObject } from "./object.ts";
import { readinessOf } from "./readiness.ts";

const now = Date.UTC(2026, 0, 1);
const object = (apiVersion: string, kind: string, fields: object = {}, metadata: object = {}): AnyObject => ({
  apiVersion,
  kind,
  metadata: { name: "x", ...metadata },
  ...fields,
});
const judge = (subject: AnyObject | undefined) => {
  const { status, reason, message } = readinessOf(subject, now);
  return [status, reason, message].filter((part) => part !== "").join(" | ");
};
const condition = (type: string, status: string, reason = "", message = "") => ({ type, status, reason, message });

/** One row per verdict; those for kinds that kstatus (cli-utils 0.37) knows are what it says. */
const DEPLOYED = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };
const AVAILABLE = [condition("Available", "True"), condition("Progressing", "True", "NewReplicaSetAvailable")];
const deployment = (status: object, spec: object = { replicas: 2, progressDeadlineSeconds: 600 }) =>
  object("apps/v1", "Deployment", { spec, status });

test("a Deployment", () => {
  const verdicts: [AnyObject, string][] = [
    [deployment({}), "InProgress | LessReplicas | Replicas: 0/2"],
    [deployment({ ...DEPLOYED, updatedReplicas: 1 }), "InProgress | LessUpdated | Updated: 1/2"],
    [deployment({ ...DEPLOYED, replicas: 3 }), "InProgress | ExtraPods | Pending termination: 1"],
    [deployment({ ...DEPLOYED, availableReplicas: 1 }), "InProgress | LessAvailable | Available: 1/2"],
    [deployment({ ...DEPLOYED, readyReplicas: 1 }), "InProgress | LessReady | Ready: 1/2"],
    [deployment(DEPLOYED), "InProgress | ReplicaSetNotAvailable | ReplicaSet not Available"],
    [deployment(DEPLOYED, { replicas: 2 }), "InProgress | DeploymentNotAvailable | Deployment not Available"],
    [deployment({ ...DEPLOYED, conditions: AVAILABLE }), "Current | Deployment is available. Replicas: 2"],
    [
      deployment({ conditions: [condition("Progressing", "False", "ProgressDeadlineExceeded")] }),
      "Failed | ProgressDeadlineExceeded | Progress deadline exceeded",
    ],
  ];
  for (const [subject, verdict] of verdicts) assert.equal(judge(subject), verdict);
});

test("a ReplicaSet, and its ancestor", () => {
  const status = { replicas: 1, fullyLabeledReplicas: 1, availableReplicas: 1, readyReplicas: 1 };
  const set = (fields: object) => object("apps/v1", "ReplicaSet", fields);
  assert.equal(judge(set({})), "InProgress | LessLabelled | Labelled: 0/1");
  assert.equal(judge(set({ status })), "Current | ReplicaSet is available. Replicas: 1");
  assert.equal(judge(set({ spec: { replicas: 0 }, status })), "InProgress | ExtraPods | Pending termination: 1");
  assert.equal(
    judge(set({ status: { ...status, conditions: [condition("ReplicaFailure", "True")] } })),
    "InProgress | ReplicaFailure | Replica Failure condition. Check Pods",
  );
  assert.equal(
    judge(object("v1", "ReplicationController", { status })),
    "Current | ReplicationController is available. Replicas: 1",
  );
});

test("a StatefulSet", () => {
  const status = { replicas: 2, readyReplicas: 2, currentReplicas: 2, currentRevision: "a", updateRevision: "a" };
  const set = (updates: object, updateStrategy: object = { type: "RollingUpdate" }) =>
    object("apps/v1", "StatefulSet", { spec: { replicas: 2, updateStrategy }, status: { ...status, ...updates } });
  assert.equal(judge(set({ replicas: 1 })), "InProgress | LessReplicas | Replicas: 1/2");
  assert.equal(judge(set({ readyReplicas: 1 })), "InProgress | LessReady | Ready: 1/2");
  assert.equal(judge(set({ replicas: 3 })), "InProgress | ExtraPods | Pending termination: 1");
  assert.equal(judge(set({ currentReplicas: 1 })), "InProgress | LessCurrent | current: 1/2");
  assert.equal(
    judge(set({ updateRevision: "b" })),
    "InProgress | RevisionMismatch | Waiting for updated revision to match current",
  );
  assert.equal(judge(set({})), "Current | All replicas scheduled as expected. Replicas: 2");
  assert.equal(judge(set({}, { rollingUpdate: { partition: 1 } })), "InProgress | PartitionRollout | updated: 0/1");
  assert.equal(
    judge(set({ updatedReplicas: 1 }, { rollingUpdate: { partition: 1 } })),
    "Current | Partition rollout complete. updated: 1",
  );
  assert.equal(
    judge(set({ replicas: 0 }, { type: "OnDelete" })),
    "Current | StatefulSet is using the ondelete update strategy",
  );
});

test("a DaemonSet", () => {
  const full = {
    desiredNumberScheduled: 2,
    currentNumberScheduled: 2,
    updatedNumberScheduled: 2,
    numberAvailable: 2,
    numberReady: 2,
  };
  const set = (status: object, generation: number | undefined = 1) =>
    object("apps/v1", "DaemonSet", { status }, { generation });
  const observed = (status: object) => set({ observedGeneration: 1, ...status });
  assert.equal(
    judge(object("apps/v1", "DaemonSet")),
    "InProgress | NoGeneration | DaemonSet metadata.generation not found",
  );
  assert.equal(judge(set({})), "InProgress | NoObservedGeneration | DaemonSet status.observedGeneration not found");
  assert.equal(judge(observed({})), "InProgress | NoDesiredNumber | Missing .status.desiredNumberScheduled");
  assert.equal(judge(observed({ ...full, currentNumberScheduled: 1 })), "InProgress | LessCurrent | Current: 1/2");
  assert.equal(judge(observed({ ...full, updatedNumberScheduled: 1 })), "InProgress | LessUpdated | Updated: 1/2");
  assert.equal(judge(observed({ ...full, numberAvailable: 1 })), "InProgress | LessAvailable | Available: 1/2");
  assert.equal(judge(observed({ ...full, numberReady: 1 })), "InProgress | LessReady | Ready: 1/2");
  assert.equal(judge(observed(full)), "Current | All replicas scheduled as expected. Replicas: 2");
});

test("a Job is current while it runs", () => {
  const job = (status: object) => object("batch/v1", "Job", { spec: { parallelism: 2 }, status });
  assert.equal(judge(job({})), "InProgress | JobNotStarted | Job not started");
  assert.equal(
    judge(job({ startTime: "2026-01-01T00:00:00Z", active: 2 })),
    "Current | Job in progress. success:0, active: 2, failed: 0",
  );
  assert.equal(
    judge(job({ succeeded: 2, conditions: [condition("Complete", "True")] })),
    "Current | Job Completed. succeeded: 2/2",
  );
  assert.equal(
    judge(job({ failed: 1, conditions: [condition("Failed", "True")] })),
    "Failed | JobFailed | Job Failed. failed: 1/2",
  );
});

test("a Pod", () => {
  const pod = (status: object, creationTimestamp = "2025-01-01T00:00:00Z") =>
    object("v1", "Pod", { status }, { creationTimestamp });
  const unschedulable = { phase: "Pending", conditions: [condition("PodScheduled", "False", "Unschedulable")] };
  const looping = { name: "c", state: { waiting: { reason: "CrashLoopBackOff" } } };
  const verdicts: [AnyObject, string][] = [
    [pod({}), "InProgress | PodNotObserved | Pod phase not available"],
    [pod({ phase: "Pending" }), "InProgress | PodPending | Pod is in the Pending phase"],
    [pod(unschedulable), "Failed | PodUnschedulable | Pod could not be scheduled"],
    [pod(unschedulable, "2025-12-31T23:59:50Z"), "InProgress | PodNotScheduled | Pod has not been scheduled"],
    [pod({ phase: "Running", conditions: [condition("Ready", "True")] }), "Current | Pod is Ready"],
    [pod({ phase: "Running" }), "InProgress | PodRunningNotReady | Pod is running but is not Ready"],
    [
      pod({ phase: "Running", containerStatuses: [looping] }),
      "Failed | ContainerCrashLooping | Containers in CrashLoop state: c",
    ],
    [pod({ phase: "Succeeded" }), "Current | Pod has completed successfully"],
    [pod({ phase: "Failed" }), "Current | Pod has completed, but not successfully"],
    [pod({ phase: "Unknown" }), "Unknown | UnknownPhase | unknown phase Unknown"],
  ];
  for (const [subject, verdict] of verdicts) assert.equal(judge(subject), verdict);
});

test("what has no pods", () => {
  const verdicts: [AnyObject, string][] = [
    [object("v1", "ConfigMap"), "Current | Resource is always ready"],
    [object("batch/v1", "CronJob"), "Current | Resource is always ready"],
    [object("policy/v1", "PodDisruptionBudget"), "Current | AllowedDisruptions has been computed."],
    [object("v1", "PersistentVolumeClaim"), "InProgress | NotBound | PVC is not Bound. phase: unknown"],
    [object("v1", "PersistentVolumeClaim", { status: { phase: "Bound" } }), "Current | PVC is Bound"],
    [object("v1", "PersistentVolume", { status: { phase: "Available" } }), "Current | PV is Available"],
    [object("v1", "PersistentVolume"), "InProgress | Pending | PV is not available yet"],
    [
      object("v1", "PersistentVolume", { status: { phase: "Failed", message: "gone" } }),
      "Failed | Failed | PV has failed: gone",
    ],
    [object("v1", "Service", { spec: { type: "ClusterIP" } }), "Current | Service is ready"],
    [
      object("v1", "Service", { spec: { type: "LoadBalancer" } }),
      "InProgress | NoIPAssigned | ClusterIP not set. Service type: LoadBalancer",
    ],
    [object("v1", "Service", { spec: { type: "LoadBalancer", clusterIP: "10.0.0.1" } }), "Current | Service is ready"],
    [object("v1", "Namespace", { status: { phase: "Active" } }), "Current | Namespace is active"],
    [object("v1", "Namespace", { status: { phase: "Terminating" } }), "Terminating | Namespace is terminating"],
    [object("v1", "Namespace"), "InProgress | NotActive | Namespace is not active yet"],
  ];
  for (const [subject, verdict] of verdicts) assert.equal(judge(subject), verdict);
});

test("what is judged by its conditions", () => {
  const autoscaler = (...conditions: object[]) =>
    object("autoscaling/v2", "HorizontalPodAutoscaler", { status: { conditions } });
  const crd = (...conditions: object[]) =>
    object("apiextensions.k8s.io/v1", "CustomResourceDefinition", { status: { conditions } });
  const api = (...conditions: object[]) =>
    object("apiregistration.k8s.io/v1", "APIService", { status: { conditions } });
  const csr = (certificate: string, ...conditions: object[]) =>
    object("certificates.k8s.io/v1", "CertificateSigningRequest", { status: { certificate, conditions } });
  const able = condition("AbleToScale", "True");
  const verdicts: [AnyObject, string][] = [
    [autoscaler(), "InProgress | NotObserved | HPA has not been observed yet"],
    [autoscaler(condition("AbleToScale", "False", "FailedGetScale", "m")), "InProgress | FailedGetScale | m"],
    [autoscaler(able, condition("ScalingActive", "True")), "Current | HPA is able to scale"],
    [autoscaler(able, condition("ScalingActive", "False", "ScalingDisabled", "m")), "Current | HPA is able to scale"],
    [
      autoscaler(able, condition("ScalingActive", "False", "FailedGetResourceMetric", "m")),
      "InProgress | FailedGetResourceMetric | m",
    ],
    [autoscaler(able, condition("ScalingActive", "False", "InvalidSelector", "m")), "Failed | InvalidSelector | m"],
    [crd(), "InProgress | Installing | Install in progress"],
    [crd(condition("Established", "False", "Installing")), "InProgress | Installing | Install in progress"],
    [crd(condition("NamesAccepted", "False", "Conflict", "m")), "Failed | Conflict | m"],
    [crd(condition("NamesAccepted", "True"), condition("Established", "True")), "Current | CRD is established"],
    [api(), "InProgress | NotObserved | APIService has not been observed yet"],
    [api(condition("Available", "False", "ServiceNotFound", "m")), "InProgress | ServiceNotFound | m"],
    [api(condition("Available", "True")), "Current | APIService is available"],
    [csr(""), "InProgress | NotApproved | Waiting for approval"],
    [csr("", condition("Approved", "True")), "InProgress | NotIssued | Waiting for the certificate"],
    [csr("PEM", condition("Approved", "True")), "Current | Certificate is issued"],
    [csr("", condition("Denied", "True", "No", "m")), "Failed | No | m"],
  ];
  for (const [subject, verdict] of verdicts) assert.equal(judge(subject), verdict);
});

test("custom resources, by generation, standard conditions and Ready", () => {
  const thing = (status: object, metadata: object = {}) => object("x.io/v1", "Thing", { status }, metadata);
  const verdicts: [AnyObject | undefined, string][] = [
    [undefined, "NotFound | NotFound | Resource not found"],
    [thing({}), "Current | Resource is current"],
    [thing({}, { deletionTimestamp: "2026-01-01T00:00:00Z" }), "Terminating | Resource scheduled for deletion"],
    [
      thing({ observedGeneration: 1, conditions: [condition("Ready", "True")] }, { generation: 2 }),
      "InProgress | LatestGenerationNotObserved | Thing generation is 2, but latest observed generation is 1",
    ],
    [thing({ conditions: [condition("Ready", "True")] }), "Current | Resource is Ready"],
    [thing({ conditions: [condition("Ready", "False", "R", "m")] }), "InProgress | R | m"],
    [thing({ conditions: [condition("Ready", "Unknown", "R", "m")] }), "InProgress | R | m"],
    [
      thing({ conditions: [condition("Ready", "True"), condition("Reconciling", "True", "R", "m")] }),
      "InProgress | R | m",
    ],
    [thing({ conditions: [condition("Stalled", "True", "R", "m")] }), "Failed | R | m"],
    [thing({ conditions: [condition("Stalled", "False", "R", "m")] }), "Current | Resource is current"],
  ];
  for (const [subject, verdict] of verdicts) assert.equal(judge(subject), verdict);
});
