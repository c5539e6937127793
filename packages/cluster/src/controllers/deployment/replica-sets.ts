import { deepEqual, isAlreadyExists, keyOf, ownerReference, templateHash, timestamp } from "@konverge/core";
import { Deployment, type PodTemplateSpec, ReplicaSet } from "@konverge/kinds";
import type { ReconcileContext } from "@konverge/runtime";
import { messageOf } from "../workloads/pod-control.ts";
import { writeStatus } from "../workloads/status.ts";
import { annotationsFor, maxSurge, nextRevision, REVISION, revisionOf, sizeAnnotations } from "./annotations.ts";
import { hasProgressDeadline, progressing, setCondition } from "./progress.ts";
import { replicasOf, type Sets } from "./sets.ts";

export const HASH_LABEL = "pod-template-hash";

export const totalReplicas = (sets: readonly ReplicaSet[]): number =>
  sets.reduce((total, set) => total + replicasOf(set), 0);

/** Oldest first. */
export function byAge(sets: readonly ReplicaSet[]): ReplicaSet[] {
  return [...sets].sort((a, b) => {
    const [x, y] = [a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? ""];
    return x < y ? -1 : x > y ? 1 : a.metadata.name < b.metadata.name ? -1 : 1;
  });
}

/** Finds the new ReplicaSet, which has the current template; creates it, if it is missing and `create` is given. */
export async function findSets(
  context: ReconcileContext,
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  { create }: { create: boolean },
): Promise<Sets> {
  const template = withoutHash(deployment.spec.template);
  const current = byAge(sets).find((set) => deepEqual(withoutHash(set.spec!.template!), template));
  const old = sets.filter((set) => set.metadata.uid !== current?.metadata.uid);
  const revision = nextRevision(old);
  if (current) return { ...(await keepCurrent(context, deployment, current, revision)), old };
  if (!create) return { deployment, current: undefined, old };
  return { ...(await createCurrent(context, deployment, old, revision)), old };
}

function withoutHash(template: PodTemplateSpec): PodTemplateSpec {
  const { [HASH_LABEL]: _, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

async function keepCurrent(context: ReconcileContext, given: Deployment, set: ReplicaSet, revision: bigint) {
  let deployment = given;
  const annotations = annotationsFor(deployment, set.metadata.annotations ?? {}, revision, false);
  const minReadySeconds = deployment.spec.minReadySeconds ?? 0;
  let current = set;
  if (!deepEqual(annotations, set.metadata.annotations ?? {}) || (set.spec!.minReadySeconds ?? 0) !== minReadySeconds) {
    const metadata = { ...set.metadata, annotations };
    // Direct writes: ReplicaSets are found by their template and outlive the revision, scaled by the steps of a
    // rollout.
    current = await context.client.update(ReplicaSet, { ...set, metadata, spec: { ...set.spec!, minReadySeconds } });
  }
  deployment = await setRevision(context, deployment, current);
  if (hasProgressDeadline(deployment) && !progressing(deployment.status)) {
    const message = `Found new replica set "${current.metadata.name}"`;
    deployment = await note(context, deployment, "True", "FoundNewReplicaSet", message);
  }
  return { deployment, current };
}

async function setRevision({ client }: ReconcileContext, deployment: Deployment, set: ReplicaSet): Promise<Deployment> {
  const revision = set.metadata.annotations?.[REVISION];
  const { annotations = {} } = deployment.metadata;
  if (revision === undefined || annotations[REVISION] === revision) return deployment;
  const metadata = { ...deployment.metadata, annotations: { ...annotations, [REVISION]: revision } };
  // Not a change of what is desired: through the status, it does not count as a new generation.
  return client.updateStatus(Deployment, { ...deployment, metadata });
}

async function note(
  context: ReconcileContext,
  deployment: Deployment,
  status: "True" | "False",
  reason: string,
  message: string,
) {
  const condition = { type: "Progressing", status, reason, message };
  const conditions = setCondition(deployment.status?.conditions, condition, timestamp(context.clock));
  return writeStatus(context, Deployment, deployment, { ...deployment.status, conditions });
}

async function createCurrent(
  context: ReconcileContext,
  given: Deployment,
  old: readonly ReplicaSet[],
  revision: bigint,
) {
  const { client, events } = context;
  let deployment = given;
  const draft = replicaSetFor(deployment, old, revision);
  const { name, namespace } = draft.metadata;
  let current: ReplicaSet;
  try {
    current = await client.create(ReplicaSet, draft);
  } catch (error) {
    if (isAlreadyExists(error)) {
      const existing = await client.get(ReplicaSet, `${namespace}/${name}`);
      const isOurs = existing.metadata.ownerReferences?.some(({ uid }) => uid === deployment.metadata.uid);
      if (!isOurs || !deepEqual(withoutHash(existing.spec!.template!), withoutHash(deployment.spec.template))) {
        const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
        await writeStatus(context, Deployment, deployment, { ...deployment.status, collisionCount });
        throw new Error(`the name of the replica set ${name} is taken`);
      }
      return { deployment: await setRevision(context, deployment, existing), current: existing };
    }
    const message = `Failed to create new replica set "${name}": ${messageOf(error)}`;
    events.warning("ReplicaSetCreateError", message);
    if (hasProgressDeadline(deployment)) await note(context, deployment, "False", "ReplicaSetCreateError", message);
    throw error;
  }
  if (replicasOf(current) > 0) {
    events.normal("ScalingReplicaSet", `Scaled up replica set ${name} from 0 to ${replicasOf(current)}`);
  }
  deployment = await setRevision(context, deployment, current);
  if (hasProgressDeadline(deployment)) {
    deployment = await note(context, deployment, "True", "NewReplicaSetCreated", `Created new replica set "${name}"`);
  }
  return { deployment, current };
}

function replicaSetFor(deployment: Deployment, old: readonly ReplicaSet[], revision: bigint) {
  const { name, namespace } = deployment.metadata;
  const { template, selector, minReadySeconds } = deployment.spec;
  const hash = templateHash(template, deployment.status?.collisionCount);
  const labels = { ...template.metadata?.labels, [HASH_LABEL]: hash };
  return {
    metadata: {
      name: `${name}-${hash}`,
      namespace: namespace!,
      labels,
      annotations: annotationsFor(deployment, {}, revision, true),
      ownerReferences: [ownerReference(Deployment, deployment)],
    },
    spec: {
      replicas: newReplicas(deployment, 0, totalReplicas(old)),
      ...(minReadySeconds && { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [HASH_LABEL]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

/** How large the new set may become now, given its size and that of all sets together. */
export function newReplicas(deployment: Deployment, current: number, total: number): number {
  const { replicas = 1, strategy } = deployment.spec;
  if (strategy?.type === "Recreate") return replicas;
  const room = replicas + maxSurge(deployment) - total;
  return room <= 0 ? current : current + Math.min(room, Math.max(0, replicas - current));
}

/** Gives a set a size, and notes the Deployment's own. */
export async function scaleSet(
  context: ReconcileContext,
  deployment: Deployment,
  set: ReplicaSet,
  size: number,
): Promise<ReplicaSet> {
  const before = replicasOf(set);
  const annotations = { ...set.metadata.annotations, ...sizeAnnotations(deployment) };
  if (size === before && deepEqual(annotations, set.metadata.annotations ?? {})) return set;
  const scaled = await context.client.update(ReplicaSet, {
    ...set,
    metadata: { ...set.metadata, annotations },
    spec: { ...set.spec!, replicas: size },
  });
  if (size !== before) {
    const direction = size > before ? "up" : "down";
    const { name } = set.metadata;
    context.events.normal("ScalingReplicaSet", `Scaled ${direction} replica set ${name} from ${before} to ${size}`);
  }
  return scaled;
}

/** Deletes the oldest sets without pods, beyond those that are kept for a rollback. */
export async function forgetOldSets({ client }: ReconcileContext, { deployment, old }: Sets): Promise<void> {
  const { revisionHistoryLimit = 10 } = deployment.spec;
  const alive = old.filter(({ metadata }) => !metadata.deletionTimestamp);
  const surplus = alive.length - revisionHistoryLimit;
  if (surplus <= 0) return;
  const oldest = [...alive].sort((a, b) => (revisionOf(a) < revisionOf(b) ? -1 : 1)).slice(0, surplus);
  for (const set of oldest) {
    const { replicas = 0, observedGeneration = 0 } = set.status ?? {};
    if (replicas !== 0 || replicasOf(set) !== 0 || (set.metadata.generation ?? 0) > observedGeneration) continue;
    await client.delete(ReplicaSet, keyOf(set));
  }
}
