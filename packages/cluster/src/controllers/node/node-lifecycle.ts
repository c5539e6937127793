import { type Clock, deepEqual, keyOf, timestamp } from "@konverge/core";
import { Lease, Node, type NodeCondition, Pod, type Taint } from "@konverge/kinds";
import { type ReconcileContext, watchKind } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import type { NodePulse } from "../../parts/node-pulse.ts";
import { type ComponentContext, controllersComponent } from "../../parts/part.ts";
import { isReady } from "../workloads/pod-state.ts";

const NAME = "node-controller";
const LEASES = "kube-node-lease";
/** Milliseconds that a node may be silent. */
const GRACE = 50_000;
/** Milliseconds that a node may be silent that has never been heard of. */
const STARTUP_GRACE = 60_000;

const NOT_READY = "node.kubernetes.io/not-ready";
const UNREACHABLE = "node.kubernetes.io/unreachable";
const UNSCHEDULABLE = "node.kubernetes.io/unschedulable";

/** Conditions that keep new pods away, by the status with which they do. */
const CONDITION_TAINTS: readonly { type: string; status: string; key: string }[] = [
  { type: "Ready", status: "False", key: NOT_READY },
  { type: "Ready", status: "Unknown", key: UNREACHABLE },
  { type: "MemoryPressure", status: "True", key: "node.kubernetes.io/memory-pressure" },
  { type: "DiskPressure", status: "True", key: "node.kubernetes.io/disk-pressure" },
  { type: "PIDPressure", status: "True", key: "node.kubernetes.io/pid-pressure" },
  { type: "NetworkUnavailable", status: "True", key: "node.kubernetes.io/network-unavailable" },
];

/** Notices nodes that have fallen silent, and taints nodes by their conditions. */
function nodeLifecycleController({ pulse }: ComponentContext) {
  const registered = new Set<string>();
  return builtInController(Node, {
    name: NAME,
    watches: [
      watchKind<Lease, Node>(Lease, {
        namespaces: [LEASES],
        references: (node) => [`${LEASES}/${node.metadata.name}`],
      }),
      watchKind<Pod, Node>(Pod, {
        indexes: { node: ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []) },
        when: ({ type }) => type === "added",
        to: ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []),
      }),
    ],
    async reconcile(given, context) {
      const { name, uid } = given.metadata;
      if (!registered.has(uid!)) {
        registered.add(uid!);
        context.events.normal("RegisteredNode", `Node ${name} event: Registered Node ${name} in Controller`);
      }
      const wait = silenceLeft(context, pulse, given);
      const node = wait <= 0 ? await markUnknown(context, given) : given;
      await taint(context, node);
      if (!isNodeReady(node)) await markPods(context, node);
      return wait > 0 && Number.isFinite(wait) ? { requeueAfter: wait } : undefined;
    },
  });
}

const ready = ({ status }: Node) => status?.conditions?.find(({ type }) => type === "Ready");
const isNodeReady = (node: Node) => ready(node)?.status === "True";

/** Milliseconds until the node has been silent for too long. */
function silenceLeft({ cache, clock }: ReconcileContext, pulse: NodePulse, node: Node): number {
  const condition = ready(node);
  if (!condition) return Date.parse(node.metadata.creationTimestamp!) + STARTUP_GRACE - clock.now();
  if (pulse.isAlive(node.metadata.name)) return Number.POSITIVE_INFINITY;
  const renewed = Date.parse(cache.get(Lease, `${LEASES}/${node.metadata.name}`)?.spec?.renewTime ?? "");
  const heartbeat = Date.parse(condition.lastHeartbeatTime ?? "");
  const last = Math.max(...[renewed, heartbeat].filter((time) => !Number.isNaN(time)));
  return (Number.isFinite(last) ? last : clock.now()) + GRACE - clock.now();
}

async function markUnknown(context: ReconcileContext, node: Node): Promise<Node> {
  const { client, clock, events } = context;
  const now = timestamp(clock);
  const known = node.status?.conditions ?? [];
  const isHeardOf = ready(node) !== undefined;
  const types = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];
  const conditions: NodeCondition[] = [...known];
  for (const type of types) {
    const index = conditions.findIndex((condition) => condition.type === type);
    const [reason, message] = isHeardOf
      ? ["NodeStatusUnknown", "Kubelet stopped posting node status."]
      : ["NodeStatusNeverUpdated", "Kubelet never posted node status."];
    const before = conditions[index];
    if (before?.status === "Unknown") continue;
    const next = {
      type,
      status: "Unknown",
      reason: reason!,
      message: message!,
      lastHeartbeatTime: before?.lastHeartbeatTime ?? node.metadata.creationTimestamp!,
      lastTransitionTime: now,
    };
    if (index < 0) conditions.push(next);
    else conditions[index] = next;
  }
  if (deepEqual(known, conditions)) return node;
  const { name } = node.metadata;
  if (isNodeReady(node)) events.normal("NodeNotReady", `Node ${name} status is now: NodeNotReady`);
  // Direct writes: the kubelet owns the node's and the pods' status; only what it can no longer report is set here.
  return client.updateStatus(Node, { ...node, status: { ...node.status, conditions } });
}

/** The taints that follow from a node's conditions; those that others have set stay. */
async function taint({ client, clock }: ReconcileContext, node: Node): Promise<void> {
  const wanted = taintsOf(node, clock);
  const isOurs = ({ key, effect }: Taint) =>
    key === UNSCHEDULABLE
      ? effect === "NoSchedule"
      : (effect === "NoSchedule" && CONDITION_TAINTS.some((one) => one.key === key)) ||
        (effect === "NoExecute" && (key === NOT_READY || key === UNREACHABLE));
  const known = node.spec?.taints ?? [];
  const kept = known.filter(
    (one) => !isOurs(one) || wanted.some(({ key, effect }) => key === one.key && effect === one.effect),
  );
  const added = wanted.filter(({ key, effect }) => !known.some((one) => one.key === key && one.effect === effect));
  if (added.length === 0 && kept.length === known.length) return;
  const { resourceVersion } = node.metadata;
  await client.patch(Node, keyOf(node), {
    merge: { metadata: { resourceVersion }, spec: { taints: [...kept, ...added] } },
  });
}

function taintsOf({ status, spec }: Node, clock: Clock): Taint[] {
  const taints: Taint[] = [];
  const timeAdded = timestamp(clock);
  for (const { type, status: value, key } of CONDITION_TAINTS) {
    if (!status?.conditions?.some((condition) => condition.type === type && condition.status === value)) continue;
    taints.push({ key, effect: "NoSchedule", timeAdded });
    if (type === "Ready") taints.push({ key, effect: "NoExecute", timeAdded });
  }
  if (spec?.unschedulable) taints.push({ key: UNSCHEDULABLE, effect: "NoSchedule", timeAdded });
  return taints;
}

/** Pods on a node that is not ready are not ready. */
async function markPods({ client, cache, clock }: ReconcileContext, node: Node): Promise<void> {
  if (!ready(node)) return;
  for (const pod of cache.find(Pod, "node", node.metadata.name)) {
    if (!isReady(pod)) continue;
    const now = timestamp(clock);
    const conditions = (pod.status?.conditions ?? []).map((condition) =>
      condition.type === "Ready" ? { ...condition, status: "False", lastTransitionTime: now } : condition,
    );
    await client.updateStatus(Pod, { ...pod, status: { ...pod.status, conditions } });
  }
}

/** Watches over nodes. */
export const nodeLifecycle = controllersComponent(NAME, [Node], (context) => [nodeLifecycleController(context)]);
