import { isNotFound, keyOf, parseQuantity, type QuantityValue } from "@konverge/core";
import { PersistentVolume, PersistentVolumeClaim, Pod } from "@konverge/kinds";
import { ExternalError, type ReconcileContext, watchKind } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { type ComponentContext, controllersComponent } from "../../parts/part.ts";
import { isTerminal } from "../workloads/pod-state.ts";
import { writeStatus } from "../workloads/status.ts";
import { claimKeysOf } from "./attachable.ts";
import { requested } from "./binding.ts";
import { claimsController, NAME } from "./claims-controller.ts";
import { attachments, reclaim } from "./reclaim.ts";

/**
 * Updates the phase of volumes, and reclaims those whose claim is deleted. A terminating volume stays until its claim is
 * deleted, and is then released like any other.
 */
function volumesController({ localVolumes }: ComponentContext) {
  return builtInController(PersistentVolume, {
    name: `${NAME}: volumes`,
    finalizer: "kubernetes.io/pv-protection",
    watches: [
      watchKind<PersistentVolumeClaim, PersistentVolume>(PersistentVolumeClaim, {
        to: ({ spec }) => (spec?.volumeName ? [spec.volumeName] : []),
      }),
      attachments,
    ],
    async reconcile(volume, context) {
      if (!volume.spec?.claimRef?.uid) await setPhase(context, volume, "Available");
      else if (!(await isClaimed(volume, context))) await release(volume, context, localVolumes);
      return undefined;
    },
    async cleanup(volume, context) {
      const isReleased = volume.spec?.claimRef?.uid && !(await isClaimed(volume, context));
      if (isReleased) await release(volume, context, localVolumes);
      else if (volume.status?.phase === "Bound")
        throw new ExternalError("InUse", `${keyOf(volume)} is bound`, { requeueAfter: 300_000 });
      return undefined;
    },
  });
}

async function isClaimed({ spec }: PersistentVolume, context: ReconcileContext): Promise<boolean> {
  const { namespace, name, uid } = spec!.claimRef!;
  const key = `${namespace}/${name}`;
  const claim = context.cache.get(PersistentVolumeClaim, key) ?? (await readClaim(context, key));
  return claim?.metadata.uid === uid;
}

async function release(
  volume: PersistentVolume,
  context: ReconcileContext,
  localVolumes: ComponentContext["localVolumes"],
): Promise<void> {
  await setPhase(context, volume, "Released");
  await reclaim(volume, context, localVolumes);
}

async function setPhase(context: ReconcileContext, volume: PersistentVolume, phase: "Available" | "Released") {
  if (volume.status?.phase !== phase) await writeStatus(context, PersistentVolume, volume, { ...volume.status, phase });
}

async function readClaim({ client }: ReconcileContext, key: string): Promise<PersistentVolumeClaim | undefined> {
  return client.get(PersistentVolumeClaim, key).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}

/** Records an event on a claim whose expansion is up to an external driver. */
function expansion() {
  const larger = (than: QuantityValue | undefined, claim: PersistentVolumeClaim) =>
    parseQuantity(requested(claim)).cmp(parseQuantity(than ?? "0")) > 0;
  return builtInController(PersistentVolumeClaim, {
    name: "volume_expand",
    when: ({ object, before }) => before !== undefined && larger(requested(before), object),
    reconcile(claim, { events }) {
      const isWaiting = claim.status?.phase === "Bound" && larger(claim.status.capacity?.["storage"], claim);
      if (isWaiting) events.normal("ExternalExpanding", "waiting for an external controller to expand this PVC");
      return undefined;
    },
  });
}

/** Keeps a claim while a pod uses it. */
function claimProtection() {
  return builtInController(PersistentVolumeClaim, {
    name: "pvc-protection-controller",
    finalizer: "kubernetes.io/pvc-protection",
    watches: [watchKind<Pod, PersistentVolumeClaim>(Pod, { indexes: { claim: claimKeysOf }, to: claimKeysOf })],
    reconcile: () => undefined,
    async cleanup(claim, { cache }) {
      const users = cache.find(Pod, "claim", keyOf(claim)).filter((pod) => pod.spec?.nodeName && !isTerminal(pod));
      if (users.length > 0)
        throw new ExternalError("InUse", `${keyOf(claim)} is used by ${users[0]!.metadata.name}`, {
          requeueAfter: 300_000,
        });
      return undefined;
    },
  });
}

/** Binds claims and volumes, and keeps both while they are in use. */
export const volumes = controllersComponent(
  "persistent-volume-binder",
  [PersistentVolumeClaim, PersistentVolume],
  (context) => [claimsController(), volumesController(context), expansion(), claimProtection()],
);
