import { parseJson, parseQuantity } from "@konverge/core";
import type { Call } from "../call/call.ts";
import type { PersistentVolumeClaim, StorageClass } from "../codec/objects.ts";
import { type AdmissionPlugin, isAbout, refusal } from "./attributes.ts";

const CLAIMS = "/persistentvolumeclaims";
const CLASSES = "storage.k8s.io/storageclasses";
const IS_DEFAULT = "storageclass.kubernetes.io/is-default-class";
const BETA_CLASS = "volume.beta.kubernetes.io/storage-class";

const PROTECTED = new Map([
  ["/persistentvolumes", "kubernetes.io/pv-protection"],
  [CLAIMS, "kubernetes.io/pvc-protection"],
  ["storage.k8s.io/volumeattributesclasses", "kubernetes.io/vac-protection"],
]);

/** Volumes and claims are kept while they are in use. */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: "StorageObjectInUseProtection",
  handles: (attributes) => attributes.operation === "CREATE" && isAbout(attributes, ...PROTECTED.keys()),
  mutate({ object, group, resource }) {
    const { metadata } = object!;
    const finalizer = PROTECTED.get(`${group}/${resource}`)!;
    if (!metadata.finalizers?.includes(finalizer)) metadata.finalizers = [...(metadata.finalizers ?? []), finalizer];
  },
};

/** Claims that name no class get the default one, if there is one. */
export const defaultStorageClass: AdmissionPlugin = {
  name: "DefaultStorageClass",
  handles: (attributes) => attributes.operation === "CREATE" && isAbout(attributes, CLAIMS),
  mutate({ object, call }) {
    const claim = object as unknown as PersistentVolumeClaim;
    const named = claim.metadata.annotations?.[BETA_CLASS];
    if (!claim.spec || claim.spec.storageClassName !== undefined || named !== undefined) return;
    const chosen = defaultClass(call);
    if (chosen) claim.spec.storageClassName = chosen;
  },
};

/** Of several defaults the newest counts. */
function defaultClass({ store }: Call): string | undefined {
  let newest: StorageClass["metadata"] | undefined;
  for (const entry of store.collection(CLASSES).scan("")) {
    const { metadata } = parseJson(entry.text) as StorageClass;
    if (metadata.annotations?.[IS_DEFAULT] !== "true") continue;
    if (!newest || (metadata.creationTimestamp ?? "") > (newest.creationTimestamp ?? "")) newest = metadata;
  }
  return newest?.name;
}

/** A claim grows only if its class allows it. */
export const persistentVolumeClaimResize: AdmissionPlugin = {
  name: "PersistentVolumeClaimResize",
  handles: (attributes) => attributes.operation === "UPDATE" && isAbout(attributes, CLAIMS),
  validate(attributes) {
    const { object, old, call } = attributes;
    const claim = object as unknown as PersistentVolumeClaim;
    const before = old as unknown as PersistentVolumeClaim;
    const size = ({ spec }: PersistentVolumeClaim) =>
      parseQuantity(String(spec?.resources?.requests?.["storage"] ?? "0"));
    if (size(claim).cmp(size(before)) <= 0) return;
    if (before.status?.phase !== "Bound") {
      throw refusal(attributes, "Only bound persistent volume claims can be expanded");
    }
    const name = claimClass(claim);
    const entry = name !== "" && name === claimClass(before) ? call.store.collection(CLASSES).get(name) : undefined;
    if (entry && (parseJson(entry.text) as StorageClass).allowVolumeExpansion) return;
    const why =
      "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";
    throw refusal(attributes, why);
  },
};

/** The class that a claim names, by the annotation of old or by its field. */
function claimClass({ metadata, spec }: PersistentVolumeClaim): string {
  return metadata.annotations?.[BETA_CLASS] ?? spec?.storageClassName ?? "";
}
