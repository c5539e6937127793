import { PersistentVolume, PersistentVolumeClaim, StorageClass } from "@konverge/kinds";
import { type ReconcileContext, watchKind } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { writeStatus } from "../workloads/status.ts";
import {
  BIND_COMPLETED,
  BOUND_BY_CONTROLLER,
  claimReference,
  classOf,
  fits,
  isFor,
  PROVISIONER,
  PROVISIONER_BETA,
  volumeFor,
  waitsForConsumer,
} from "./binding.ts";

export const NAME = "persistentvolume-controller";
const DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class";

/** Finds a volume for each claim, or has one made. */
export function claimsController() {
  const pending = new Set<string>();
  return builtInController(PersistentVolumeClaim, {
    name: NAME,
    when({ type, key, object }) {
      if (type === "deleted" || object.status?.phase === "Bound") pending.delete(key);
      else pending.add(key);
      return true;
    },
    watches: [
      // A volume concerns its claim; a free one may be what some claim waits for.
      watchKind<PersistentVolume, PersistentVolumeClaim>(PersistentVolume, {
        to: ({ spec }) => (spec?.claimRef ? [`${spec.claimRef.namespace}/${spec.claimRef.name}`] : [...pending]),
      }),
      watchKind<StorageClass, PersistentVolumeClaim>(StorageClass, { to: () => [...pending] }),
    ],
    async reconcile(claim, context) {
      const isBound = claim.metadata.annotations?.[BIND_COMPLETED] !== undefined;
      await (isBound ? keepBound(context, claim) : findVolume(context, claim));
      return undefined;
    },
  });
}

async function findVolume(context: ReconcileContext, given: PersistentVolumeClaim): Promise<void> {
  const { cache, events } = context;
  const claim = await withClass(context, given);
  const name = claim.spec?.volumeName;
  const storageClass = cache.get(StorageClass, classOf(claim));
  const all = cache.list(PersistentVolume);
  const isWaiting = !name && waitsForConsumer(claim, storageClass);
  const volume = name
    ? cache.get(PersistentVolume, name)
    : volumeFor(claim, isWaiting ? all.filter((one) => isFor(one, claim)) : all);
  if (volume && (!name || !volume.spec?.claimRef || isFor(volume, claim))) {
    if (name && !volume.spec?.claimRef && !fits(claim, volume)) {
      events.warning("VolumeMismatch", `Cannot bind to requested volume "${name}": ${mismatch(claim, volume)}`);
    } else await bind(context, claim, volume);
    return;
  }
  await writeStatus(context, PersistentVolumeClaim, claim, { ...claim.status, phase: "Pending" });
  if (name) {
    if (volume) events.warning("FailedBinding", `volume "${name}" already bound to a different claim.`);
    return;
  }
  if (isWaiting) {
    events.normal("WaitForFirstConsumer", "waiting for first consumer to be created before binding");
  } else if (classOf(claim) === "") {
    events.normal("FailedBinding", "no persistent volumes available for this claim and no storage class is set");
  } else if (!storageClass) {
    events.warning("ProvisioningFailed", `storageclass.storage.k8s.io "${classOf(claim)}" not found`);
  } else if (storageClass.provisioner !== "kubernetes.io/no-provisioner") {
    await askProvisioner(context, claim, storageClass.provisioner);
  }
}

/** A claim from before there was a default class gets it now. */
async function withClass(
  { cache, client }: ReconcileContext,
  claim: PersistentVolumeClaim,
): Promise<PersistentVolumeClaim> {
  if (claim.spec?.storageClassName !== undefined || classOf(claim) !== "") return claim;
  const defaults = cache.list(StorageClass).filter(({ metadata }) => metadata.annotations?.[DEFAULT_CLASS] === "true");
  const [newest] = defaults.sort((a, b) => (a.metadata.creationTimestamp! > b.metadata.creationTimestamp! ? -1 : 1));
  if (!newest) return claim;
  // Direct writes: a claim and a volume are bound by writes to both, in an order that survives a crash at each of them.
  return client.update(PersistentVolumeClaim, {
    ...claim,
    spec: { ...claim.spec, storageClassName: newest.metadata.name },
  });
}

async function askProvisioner(
  { client, events }: ReconcileContext,
  claim: PersistentVolumeClaim,
  provisioner: string,
): Promise<void> {
  const { annotations = {} } = claim.metadata;
  if (annotations[PROVISIONER] !== provisioner) {
    const asked = { ...annotations, [PROVISIONER]: provisioner, [PROVISIONER_BETA]: provisioner };
    await client.update(PersistentVolumeClaim, { ...claim, metadata: { ...claim.metadata, annotations: asked } });
  }
  events.normal(
    "ExternalProvisioning",
    `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`,
  );
}

/** Ties claim and volume to each other: the volume first, so that no two claims get the same. */
async function bind(context: ReconcileContext, claim: PersistentVolumeClaim, volume: PersistentVolume): Promise<void> {
  const { client } = context;
  let bound = volume;
  if (volume.spec?.claimRef?.uid !== claim.metadata.uid) {
    const isOurChoice = !volume.spec?.claimRef;
    const annotations = { ...volume.metadata.annotations, ...(isOurChoice && { [BOUND_BY_CONTROLLER]: "yes" }) };
    bound = await client.update(PersistentVolume, {
      ...volume,
      metadata: { ...volume.metadata, annotations },
      spec: { ...volume.spec, claimRef: claimReference(claim) },
    });
  }
  if (bound.status?.phase !== "Bound") {
    await client.updateStatus(PersistentVolume, { ...bound, status: { ...bound.status, phase: "Bound" } });
  }
  const annotations = {
    ...claim.metadata.annotations,
    ...(!claim.spec?.volumeName && { [BOUND_BY_CONTROLLER]: "yes" }),
    [BIND_COMPLETED]: "yes",
  };
  const tied = await client.update(PersistentVolumeClaim, {
    ...claim,
    metadata: { ...claim.metadata, annotations },
    spec: { ...claim.spec, volumeName: volume.metadata.name },
  });
  await reportBound(context, tied, bound);
}

async function reportBound(
  context: ReconcileContext,
  claim: PersistentVolumeClaim,
  { spec }: PersistentVolume,
): Promise<void> {
  await writeStatus(context, PersistentVolumeClaim, claim, {
    ...claim.status,
    phase: "Bound",
    ...(spec?.accessModes && { accessModes: spec.accessModes }),
    capacity: claim.status?.phase === "Bound" && claim.status.capacity ? claim.status.capacity : (spec?.capacity ?? {}),
  });
}

async function keepBound(context: ReconcileContext, claim: PersistentVolumeClaim): Promise<void> {
  const { events, cache } = context;
  const volume = cache.get(PersistentVolume, claim.spec?.volumeName ?? "");
  if (!volume || (volume.spec?.claimRef?.uid && !isFor(volume, claim))) {
    const message = volume
      ? "Bound claim has lost reference to PersistentVolume"
      : "Bound claim has lost its PersistentVolume. Data on the volume is lost!";
    if (claim.status?.phase !== "Lost") events.warning(volume ? "ClaimMisbound" : "ClaimLost", message);
    await writeStatus(context, PersistentVolumeClaim, claim, { ...claim.status, phase: "Lost" });
    return;
  }
  if (volume.status?.phase !== "Bound" || !volume.spec?.claimRef?.uid) await bind(context, claim, volume);
  else await reportBound(context, claim, volume);
}

function mismatch(claim: PersistentVolumeClaim, volume: PersistentVolume): string {
  if (classOf(claim) !== classOf(volume)) return "storageClassName does not match";
  if ((claim.spec?.volumeMode ?? "Filesystem") !== (volume.spec?.volumeMode ?? "Filesystem"))
    return "incompatible volumeMode";
  const isTooSmall = !fits({ ...claim, spec: { ...claim.spec, accessModes: [] } }, volume);
  return isTooSmall ? "requested PV is too small" : "incompatible accessMode";
}
