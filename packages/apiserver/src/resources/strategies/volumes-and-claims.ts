import {
  append,
  deepEqual,
  dns1123SubdomainErrors,
  type FieldError,
  parseQuantity,
  qualifiedNameErrors,
} from "@konverge/core";
import { duplicate, forbidden, invalidValue, notSupported, required } from "@konverge/schema";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  StorageClass,
  Stored,
} from "../../codec/objects.ts";
import type { Strategy } from "../definition.ts";
import { driverNameErrors, parameterErrors, provisionerErrors } from "./csi.ts";
import { immutable, named, oneOf } from "./pod-spec/checks.ts";
import { backstepErrors } from "./pod-spec/paths.ts";
import { hostPathErrors } from "./pod-spec/volumes.ts";

const ACCESS_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

export const persistentVolumeClaim: Strategy = {
  prepareForCreate(object: Stored<PersistentVolumeClaim>) {
    object.status = { phase: "Pending" };
  },
  validate: ({ spec }: Stored<PersistentVolumeClaim>) => claimSpecErrors(spec ?? {}, "spec"),
  validateUpdate(object: Stored<PersistentVolumeClaim>, old: Stored<PersistentVolumeClaim>) {
    const errors: FieldError[] = [];
    const now = { ...object.spec };
    const before = { ...old.spec };
    const isBound = old.status?.phase === "Bound";
    // A claim is given its volume and, once, its class.
    if (!before.volumeName) delete now.volumeName;
    if (before.storageClassName === undefined) delete now.storageClassName;
    if (isBound) {
      delete now.volumeAttributesClassName;
      delete before.volumeAttributesClassName;
    }
    const size = (spec: PersistentVolumeClaimSpec) =>
      parseQuantity(String(spec.resources?.requests?.["storage"] ?? "0"));
    const [wanted, had] = [size(object.spec ?? {}), size(old.spec ?? {})];
    if (isBound && wanted.cmp(had) !== 0) now.resources = before.resources!;
    if (!deepEqual(now, before)) {
      const detail =
        "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
      errors.push(forbidden("spec", `${detail}\n`));
    }
    const capacity = old.status?.capacity?.["storage"];
    if (wanted.cmp(had) < 0 && (!capacity || wanted.cmp(parseQuantity(String(capacity))) < 0)) {
      errors.push(forbidden("spec.resources.requests.storage", "field can not be less than status.capacity"));
    }
    return errors;
  },
  validateStatusUpdate: () => [],
};

/** What is wrong with a claim, also with one in a template. */
export function claimSpecErrors(spec: PersistentVolumeClaimSpec, field: string): FieldError[] {
  const { accessModes = [], resources, storageClassName } = spec;
  const errors: FieldError[] = [];
  if (accessModes.length === 0) errors.push(required(`${field}.accessModes`, "at least 1 access mode is required"));
  for (const mode of accessModes) {
    if (!ACCESS_MODES.includes(mode)) errors.push(notSupported(`${field}.accessModes`, mode, ACCESS_MODES));
  }
  if (accessModes.includes("ReadWriteOncePod") && accessModes.length > 1) {
    errors.push(forbidden(`${field}.accessModes`, "may not use ReadWriteOncePod with other access modes"));
  }
  const storage = resources?.requests?.["storage"];
  if (storage === undefined) errors.push(required(`${field}.resources[storage]`));
  else if (parseQuantity(String(storage)).sign() <= 0) {
    errors.push(invalidValue(`${field}.resources[storage]`, storage, "must be greater than zero"));
  }
  if (storageClassName)
    append(errors, named(`${field}.storageClassName`, storageClassName, dns1123SubdomainErrors(storageClassName)));
  return errors;
}

const NOT_SOURCES = new Set([
  "capacity",
  "accessModes",
  "claimRef",
  "persistentVolumeReclaimPolicy",
  "storageClassName",
  "mountOptions",
  "volumeMode",
  "nodeAffinity",
  "volumeAttributesClassName",
]);

export const persistentVolume: Strategy = {
  prepareForCreate(object: Stored<PersistentVolume>, { now }) {
    object.status = { phase: "Pending", lastPhaseTransitionTime: now };
  },
  prepareForUpdate(object: Stored<PersistentVolume>, old: Stored<PersistentVolume>, { subresource, now }) {
    if (subresource !== "status" || !object.status || object.status.phase === old.status?.phase) return;
    if (object.status.lastPhaseTransitionTime === old.status?.lastPhaseTransitionTime)
      object.status.lastPhaseTransitionTime = now;
  },
  validate({ spec }: Stored<PersistentVolume>) {
    const { accessModes = [], capacity = {}, persistentVolumeReclaimPolicy } = spec ?? {};
    const errors: FieldError[] = [];
    if (accessModes.length === 0) errors.push(required("spec.accessModes"));
    for (const mode of accessModes) {
      if (!ACCESS_MODES.includes(mode)) errors.push(notSupported("spec.accessModes", mode, ACCESS_MODES));
    }
    if (Object.keys(capacity).length === 0) errors.push(required("spec.capacity"));
    if (capacity["storage"] === undefined || Object.keys(capacity).length > 1) {
      errors.push(notSupported("spec.capacity", spec?.capacity ?? null, ["storage"]));
    }
    for (const [name, amount] of Object.entries(capacity)) {
      if (parseQuantity(String(amount)).sign() > 0) continue;
      errors.push(invalidValue(`spec.capacity[${name}]`, amount, "must be greater than zero"));
    }
    if (persistentVolumeReclaimPolicy) {
      errors.push(
        ...oneOf("spec.persistentVolumeReclaimPolicy", persistentVolumeReclaimPolicy, ["Delete", "Recycle", "Retain"]),
      );
    }
    const sources = Object.keys(spec ?? {}).filter((key) => !NOT_SOURCES.has(key));
    if (sources.length === 0) errors.push(required("spec", "must specify a volume type"));
    for (const source of sources.slice(1))
      errors.push(forbidden(`spec.${source}`, "may not specify more than 1 volume type"));
    return [...errors, ...sourceErrors(spec ?? {})];
  },
  validateUpdate({ spec }: Stored<PersistentVolume>, old: Stored<PersistentVolume>) {
    const sources = (from: object | undefined) =>
      Object.fromEntries(Object.entries(from ?? {}).filter(([key]) => !NOT_SOURCES.has(key)));
    const detail = "spec.persistentvolumesource is immutable after creation";
    return [
      ...(deepEqual(sources(spec), sources(old.spec)) ? [] : [forbidden("spec.persistentvolumesource", `${detail}\n`)]),
      ...immutable("spec.volumeMode", spec?.volumeMode, old.spec?.volumeMode),
    ];
  },
  validateStatusUpdate: () => [],
};

/** What is wrong with the place where a volume lies. */
function sourceErrors(spec: NonNullable<PersistentVolume["spec"]>): FieldError[] {
  const { hostPath, csi, local, nodeAffinity } = spec;
  const errors: FieldError[] = [];
  if (hostPath) errors.push(...hostPathErrors(hostPath, "spec.hostPath"));
  if (csi) {
    append(errors, driverNameErrors(csi.driver ?? "", "spec.csi.driver"));
    if (!csi.volumeHandle) errors.push(required("spec.csi.volumeHandle"));
  }
  if (local && !local.path) errors.push(required("spec.local.path"));
  if (local) errors.push(...backstepErrors(local.path ?? "", "spec.local.path"));
  if (local && !nodeAffinity) errors.push(required("spec.nodeAffinity", "Local volume requires node affinity"));
  return errors;
}

export const storageClass: Strategy = {
  validate(object: Stored<StorageClass>) {
    const { provisioner = "", parameters, reclaimPolicy, volumeBindingMode, allowedTopologies = [] } = object;
    return [
      ...provisionerErrors(provisioner, "provisioner"),
      ...parameterErrors(parameters, "parameters"),
      ...(reclaimPolicy ? oneOf("reclaimPolicy", reclaimPolicy, ["Delete", "Retain"]) : []),
      ...oneOf("volumeBindingMode", volumeBindingMode, ["Immediate", "WaitForFirstConsumer"]),
      ...topologyErrors(allowedTopologies, "allowedTopologies"),
    ];
  },
  validateChange(object: Stored<StorageClass>, old: Stored<StorageClass>) {
    const fixed = ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"] as const;
    return fixed.flatMap((name) => immutable(name, object[name], old[name]));
  },
};

type Topologies = NonNullable<StorageClass["allowedTopologies"]>;

function topologyErrors(topologies: Topologies, field: string): FieldError[] {
  const terms = topologies.map(({ matchLabelExpressions = [] }) => matchLabelExpressions);
  return terms.flatMap((term, index) => {
    const at = `${field}[${index}].matchLabelExpressions`;
    const errors = term.flatMap(({ key, values }, place) => [
      ...(values?.length ? [] : [required(`${at}[${place}].values`)]),
      ...(values ?? []).flatMap((value, item) =>
        values.indexOf(value) < item ? [duplicate(`${at}[${place}].values[${item}]`, value)] : [],
      ),
      ...named(`${at}[${place}].key`, key, qualifiedNameErrors(key)),
      ...(term.findIndex((one) => one.key === key) < place ? [duplicate(`${at}[${place}].key`, key)] : []),
    ]);
    const isRepeated = terms.slice(0, index).some((other) => deepEqual(sorted(other), sorted(term)));
    return isRepeated ? [...errors, duplicate(at, "")] : errors;
  });
}

function sorted(term: NonNullable<Topologies[number]["matchLabelExpressions"]>): Record<string, string[]> {
  return Object.fromEntries(term.map(({ key, values }) => [key, [...new Set(values)].sort()]));
}
