import { type KubeObject, parseQuantity, type Readiness, readinessOf } from "@konverge/core";
import type { Node, Pod } from "@konverge/kinds";
import { isPaused, podProblem, replicaFailureMessage } from "@konverge/runtime";
import type { ObjectName, ObjectState, ObjectSummary } from "./protocol.ts";
import { referencesOf } from "./references.ts";

/** What names a kind, as discovery and recordings know it. */
export interface NamedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
}

/** The label by which Deployments and pods of operators are recognized. */
const MANAGED_BY = "app.kubernetes.io/managed-by";
/** Extended resources that count as GPUs. */
const GPU = /^(nvidia\.com\/(gpu|mig-.*)|amd\.com\/gpu|gpu\.intel\.com\/.*)$/;
/** Set to `stopped`, it stops the kubelet of a simulated node. */
const KUBELET = "sim.konverge.dev/kubelet";
/** Labels that distinguish the pods of a set. */
const ROLE = /(^|[/-])role$/;
const FAILED_PHASES = new Set(["failed", "error", "degraded"]);
const DONE_PHASES = new Set(["succeeded", "completed", "complete", "successful"]);

interface Status {
  phase?: unknown;
  state?: unknown;
  conditions?: { type: string; status: string; reason?: string; message?: string }[];
  replicas?: number;
  readyReplicas?: number;
  numberReady?: number;
  desiredNumberScheduled?: number;
}

export function nameOf(kind: NamedKind, { metadata }: KubeObject): ObjectName {
  const { group, version, kind: name, plural } = kind;
  return {
    id: metadata.uid ?? idOf(kind, metadata),
    group,
    version,
    kind: name,
    plural,
    ...(metadata.namespace && { namespace: metadata.namespace }),
    name: metadata.name,
  };
}

/** The id of an object whose UID is not known. */
export function idOf(kind: { group: string; kind: string }, { namespace, name }: { namespace?: string; name: string }) {
  return `${kind.group}/${kind.kind}/${namespace ?? ""}/${name}`;
}

/** What lists and trees show of an object. */
export function summaryOf(kind: NamedKind, given: KubeObject, now: number): ObjectSummary {
  const object = withListedConditions(given);
  const { metadata } = object;
  const status = ((object as { status?: Status }).status ?? {}) as Status;
  const pod = kind.group === "" && kind.kind === "Pod" ? (object as Pod) : undefined;
  const node = kind.group === "" && kind.kind === "Node" ? (object as Node) : undefined;
  const readiness = readinessOf(object, now);
  const problem = problemOf(object, pod, status);
  const replicas = replicasOf(object, status);
  const owners = [...(metadata.ownerReferences ?? [])].sort((a, b) => Number(b.controller) - Number(a.controller));
  const managed = metadata.labels?.[MANAGED_BY] === "konverge";
  const statusManager = statusManagerOf(kind, object);
  const references = referencesOf(given);
  const runsOperator = managed && (pod !== undefined || kind.kind === "Deployment");
  return {
    ...nameOf(kind, object),
    owners: owners.map(({ uid }) => uid),
    ...(references.length > 0 && { references }),
    ...(metadata.creationTimestamp && { created: Date.parse(metadata.creationTimestamp) }),
    state: stateOf(object, readiness, status, problem),
    message: messageOf(readiness, status, problem, pod),
    ...(problem && { problem }),
    ...(replicas && { replicas }),
    badges: badgesOf(object, pod, node, status),
    ...(pod && { pod: { phase: phaseOf(pod), gpus: gpusOf(pod), containers: containersOf(pod) } }),
    ...(node && { node: { ready: isReady(node), gpus: sumOfGpus(node.status?.allocatable ?? {}) } }),
    ...(runsOperator && { operator: metadata.labels?.["app.kubernetes.io/name"] ?? metadata.name }),
    ...(statusManager && { statusManager }),
  };
}

/** Schemas are free to allow anything as conditions; in a new CustomResourceDefinition they are null. */
function withListedConditions(object: KubeObject): KubeObject {
  const { status } = object as { status?: Status | null };
  if (status?.conditions === undefined) return object;
  const given: unknown = status.conditions;
  const conditions = Array.isArray(given) ? given.filter((one) => typeof one?.type === "string") : [];
  return { ...object, status: { ...status, conditions } } as KubeObject;
}

function stateOf(object: KubeObject, { status: ready }: Readiness, status: Status, problem?: string): ObjectState {
  if (object.metadata.deletionTimestamp) return "terminating";
  if (isPaused(object)) return "paused";
  const phase = typeof status.phase === "string" ? status.phase.toLowerCase() : "";
  if (ready === "Failed" || problem || FAILED_PHASES.has(phase)) return "failed";
  if (DONE_PHASES.has(phase)) return "done";
  if (ready === "Current") return contradicted(status) ? "progressing" : "ready";
  return "progressing";
}

/** kstatus takes objects without a Ready condition as current; a false Available or Succeeded says otherwise. */
function contradicted({ conditions = [] }: Status): boolean {
  return conditions.some(({ type, status }) => ["Ready", "Available"].includes(type) && status === "False");
}

function messageOf(readiness: Readiness, status: Status, problem: string | undefined, pod: Pod | undefined): string {
  if (problem) return problem;
  const { conditions = [] } = status;
  const unmet = conditions.find(({ type, status: is }) => ["Ready", "Available"].includes(type) && is === "False");
  if (readiness.status !== "Current" && !unmet) return readiness.message;
  if (unmet) return unmet.message || unmet.reason || readiness.message;
  const phase = [status.phase, status.state].find((one): one is string => typeof one === "string" && one !== "");
  const ready = conditions.find(({ type, status: is }) => ["Ready", "Available"].includes(type) && is === "True");
  if (pod) return phaseOf(pod);
  return ready?.message || phase || (readiness.message === "Resource is current" ? "" : readiness.message);
}

function problemOf(object: KubeObject, pod: Pod | undefined, { conditions = [] }: Status): string | undefined {
  if (object.metadata.deletionTimestamp) return undefined;
  if (pod) return podProblem(pod)?.message;
  const refusal = replicaFailureMessage(object);
  if (refusal) return refusal;
  return conditions.find(({ type, status }) => type === "Stalled" && status === "True")?.message;
}

function replicasOf(object: KubeObject, status: Status): ObjectSummary["replicas"] {
  const { replicas } = ((object as { spec?: { replicas?: unknown } }).spec ?? {}) as { replicas?: unknown };
  const desired = typeof replicas === "number" ? replicas : status.desiredNumberScheduled;
  if (typeof desired !== "number") return undefined;
  if (status.replicas === undefined && status.readyReplicas === undefined && status.numberReady === undefined)
    return undefined;
  return { ready: status.readyReplicas ?? status.numberReady ?? 0, desired };
}

function badgesOf(object: KubeObject, pod: Pod | undefined, node: Node | undefined, status: Status): string[] {
  const badges: string[] = [];
  if (pod) {
    const role = Object.entries(object.metadata.labels ?? {}).find(([key]) => ROLE.test(key))?.[1];
    if (role) badges.push(role);
    const restarts = pod.status?.containerStatuses?.reduce((sum, { restartCount }) => sum + restartCount, 0) ?? 0;
    if (restarts > 0) badges.push(restarts === 1 ? "1 restart" : `${restarts} restarts`);
    const gpus = gpusOf(pod);
    if (gpus > 0) badges.push(gpus === 1 ? "1 GPU" : `${gpus} GPUs`);
  } else if (node) {
    if (node.spec?.unschedulable) badges.push("cordoned");
    if (node.metadata.annotations?.[KUBELET] === "stopped") badges.push("kubelet stopped");
    const gpus = sumOfGpus(node.status?.allocatable ?? {});
    if (gpus > 0) badges.push(`${gpus} GPUs`);
  } else if (typeof status.phase === "string" && status.phase) badges.push(status.phase);
  return badges;
}

/** The word kubectl shows for a pod, without reasons: these are problems. */
function phaseOf({ metadata, status }: Pod): string {
  return metadata.deletionTimestamp ? "Terminating" : (status?.phase ?? "Pending");
}

function gpusOf({ spec, status }: Pod): number {
  if (!spec.nodeName || status?.phase === "Succeeded" || status?.phase === "Failed") return 0;
  return spec.containers.reduce((sum, { resources }) => sum + sumOfGpus(resources?.limits ?? {}), 0);
}

function sumOfGpus(quantities: Readonly<Record<string, string | number>>): number {
  let sum = 0;
  for (const [name, quantity] of Object.entries(quantities)) {
    if (GPU.test(name)) sum += parseQuantity(quantity).asNumber();
  }
  return sum;
}

const containersOf = ({ spec }: Pod) => [...spec.containers, ...(spec.initContainers ?? [])].map(({ name }) => name);

function isReady({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
}

/**
 * Konverge's controllers apply the status of what they reconcile, by a field manager of the controller's name. Where several
 * do, the one that is named after the kind comes first.
 */
function statusManagerOf({ group, plural }: NamedKind, { metadata }: KubeObject): string | undefined {
  const managers = (metadata.managedFields ?? [])
    .filter(({ subresource, operation }) => subresource === "status" && operation === "Apply")
    .map(({ manager }) => manager);
  return managers.find((manager) => manager === `${plural}.${group}`) ?? managers[0];
}
