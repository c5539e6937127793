import type { Client } from "@konverge/client";
import { controllerOf, isNotFound, keyOf, type ObjectKey } from "@konverge/core";
import { DeviceClass, Pod, ResourceClaim, ResourceClaimTemplate, ResourceSlice } from "@konverge/kinds";
import type { CacheView } from "@konverge/runtime";
import { KeyWorker } from "../../parts/key-worker.ts";
import { type ComponentContext, type ControlPlaneComponent, controllersComponent } from "../../parts/part.ts";
import { isTerminal } from "../workloads/pod-state.ts";
import { claimsFromTemplates } from "./claims-from-templates.ts";

/** Keeps a claim while its devices are allocated. */
export const DELETE_PROTECTION = "resource.kubernetes.io/delete-protection";

/** Pods alone do not start it: without device classes, hardly any pod requests devices. */
const STARTS_WITH = [ResourceClaim, ResourceClaimTemplate, DeviceClass, ResourceSlice];

/** Makes claims for pods by templates. */
export const templatedClaims = controllersComponent("resource-claim-controller", STARTS_WITH, () => [
  claimsFromTemplates(),
]);

/**
 * Deallocates the devices of pods that have finished, and deletes generated claims that are no longer needed. Terminating
 * claims wait for their deallocation: that is why this is no ordinary controller, which would ignore them.
 */
export const releasedClaims: ControlPlaneComponent = {
  name: "resource-claim-release",
  user: "resource-claim-controller",
  startsWith: [ResourceClaim],
  async start({ client, cache, clock, log }: ComponentContext) {
    const [claims, pods] = [cache.use(ResourceClaim), cache.use(Pod)];
    await Promise.all([claims.whenSynced(), pods.whenSynced()]);
    claims.addIndex("pod", (claim) => [...podsOf(claim)]);
    const worker = new KeyWorker({
      clock,
      log,
      name: "resource_claim",
      async work(key) {
        const claim = claims.get(key);
        if (claim) await release(client, pods, claim);
        return undefined;
      },
    });
    claims.subscribe(({ key }) => worker.add(key));
    pods.subscribe(({ key, type, object }) => {
      if (type === "deleted" || isTerminal(object)) for (const claim of claims.find("pod", key)) worker.add(claim);
    });
    return worker;
  },
};

/** The pods that have a claim's devices, and the one that it was made for. */
function* podsOf({ metadata, status }: ResourceClaim): Generator<ObjectKey> {
  for (const { resource, name } of status?.reservedFor ?? []) {
    if (resource === "pods") yield `${metadata.namespace}/${name}`;
  }
  const owner = controllerOf({ metadata });
  if (owner?.kind === "Pod") yield `${metadata.namespace}/${owner.name}`;
}

async function release(client: Client, pods: CacheView<Pod>, claim: ResourceClaim): Promise<void> {
  const { namespace, finalizers = [] } = claim.metadata;
  const { reservedFor = [], allocation } = claim.status ?? {};
  const isOver = ({ name, uid }: { name: string; uid: string }) => {
    const pod = pods.get(`${namespace}/${name}`);
    return !pod || pod.metadata.uid !== uid || isDone(pod);
  };
  const remaining = reservedFor.filter((one) => one.resource !== "pods" || !isOver(one));
  const isProtected = finalizers.includes(DELETE_PROTECTION);
  const isFreed = remaining.length === 0 && (reservedFor.length > 0 || claim.metadata.deletionTimestamp !== undefined);
  let current = claim;
  if (remaining.length < reservedFor.length || (isFreed && isProtected && allocation)) {
    const { allocation: given, reservedFor: _, ...rest } = current.status ?? {};
    const kept = isFreed && isProtected ? {} : { ...(given && { allocation: given }) };
    const status = { ...rest, ...kept, ...(remaining.length > 0 && { reservedFor: remaining }) };
    // Direct writes: scheduler and drivers share the status; this removes the reservations of finished and deleted pods.
    current = await client.updateStatus(ResourceClaim, { ...current, status });
  }
  if (isFreed && isProtected && !current.status?.allocation) {
    const others = finalizers.filter((one) => one !== DELETE_PROTECTION);
    await client.patch(ResourceClaim, keyOf(claim), {
      merge: {
        metadata: { resourceVersion: current.metadata.resourceVersion!, finalizers: others.length > 0 ? others : null },
      },
    });
  }
  if (remaining.length > 0 || claim.metadata.deletionTimestamp) return;
  const owner = controllerOf(claim);
  const pod = owner?.kind === "Pod" ? pods.get(`${namespace}/${owner.name}`) : undefined;
  // The garbage collector deletes the claims of deleted pods.
  if (!owner || !pod || (pod.metadata.uid === owner.uid && !isDone(pod))) return;
  await client.delete(ResourceClaim, keyOf(claim), { preconditions: { uid: claim.metadata.uid! } }).catch((error) => {
    if (!isNotFound(error)) throw error;
  });
}

/** Whether a pod has finished, or was deleted before it was bound to a node. */
function isDone(pod: Pod): boolean {
  return isTerminal(pod) || (pod.metadata.deletionTimestamp !== undefined && !pod.spec?.nodeName);
}
