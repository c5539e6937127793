import {
  append,
  deepEqual,
  dns1123SubdomainErrors,
  type FieldError,
  parseQuantity,
  qualifiedNameErrors,
} from "@konverge/core";
import { duplicate, forbidden, invalidValue, notSupported, required, tooLong } from "@konverge/schema";
import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  Stored,
  VolumeAttachment,
  VolumeAttributesClass,
} from "../../codec/objects.ts";
import type { WorkingObject } from "../../codec/working-object.ts";
import type { Strategy } from "../definition.ts";
import { immutable, named, nonNegative, optionallyOneOf } from "./pod-spec/checks.ts";
import { labelSelectorErrors } from "./selectors.ts";

const LONGEST_NODE_ID = 192;
const MOST_BYTES = 256 * 1024;
const MOST_PARAMETERS = 512;
const LONGEST_ERROR = 1024;
const UNSAFE_TOKENS =
  "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes";

export const csiDriver: Strategy = {
  validate: ({ spec }: Stored<CSIDriver>) => driverErrors(spec),
  validateUpdate: ({ spec }: Stored<CSIDriver>, old: Stored<CSIDriver>) => [
    ...immutable("spec.attachedRequired", spec.attachRequired, old.spec.attachRequired),
    ...immutable("spec.volumeLifecycleModes", spec.volumeLifecycleModes, old.spec.volumeLifecycleModes),
  ],
  prepareForUpdate(object: Stored<CSIDriver>, old: Stored<CSIDriver>) {
    // Counted from the first change on, not from the beginning.
    if (!deepEqual(object.spec, old.spec)) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  },
  warnings({ spec }: Stored<CSIDriver>, _context, old) {
    const { tokenRequests: before = [] } = (old as Stored<CSIDriver> | undefined)?.spec ?? {};
    const { tokenRequests: now = [] } = spec;
    const isNew = !old || !deepEqual(before, now);
    return isNew && now.length > 0 && spec.serviceAccountTokenInSecrets === undefined ? [UNSAFE_TOKENS] : [];
  },
};

function driverErrors(spec: CSIDriver["spec"]): FieldError[] {
  const { tokenRequests = [], volumeLifecycleModes = [], nodeAllocatableUpdatePeriodSeconds: period } = spec;
  const errors = optionallyOneOf("spec.fsGroupPolicy", spec.fsGroupPolicy, ["File", "None", "ReadWriteOnceWithFSType"]);
  tokenRequests.forEach(({ audience, expirationSeconds: seconds }, index) => {
    const at = `spec.tokenRequests[${index}]`;
    if (tokenRequests.findIndex((one) => one.audience === audience) < index) {
      errors.push(duplicate(`${at}.audience`, audience));
      return;
    }
    if (seconds === undefined) return;
    const field = `${at}.expirationSeconds`;
    if (seconds < 600) errors.push(invalidValue(field, seconds, "may not specify a duration less than 10 minutes"));
    if (seconds > 2 ** 32) {
      errors.push(invalidValue(field, seconds, "may not specify a duration larger than 2^32 seconds"));
    }
  });
  const modes = ["Persistent", "Ephemeral"];
  for (const mode of volumeLifecycleModes) {
    if (!modes.includes(mode)) errors.push(notSupported("spec.volumeLifecycleModes", mode, modes));
  }
  if (period !== undefined && period < 10) {
    const detail = "must be greater than or equal to 10 seconds";
    errors.push(invalidValue("spec.nodeAllocatableUpdatePeriodSeconds", period, detail));
  }
  const { serviceAccountTokenInSecrets: inSecrets } = spec;
  if (inSecrets !== undefined && tokenRequests.length === 0) {
    const detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
    errors.push(invalidValue("spec.serviceAccountTokenInSecrets", inSecrets, detail));
  }
  return errors;
}

/** What is wrong with the name of a driver. */
export function driverNameErrors(name: string, field: string): FieldError[] {
  if (name === "") return [required(field)];
  return [
    ...(name.length > 63 ? [tooLong(field, 63)] : []),
    ...named(field, name, dns1123SubdomainErrors(name.toLowerCase())),
  ];
}

export const csiNode: Strategy = {
  validate: ({ spec }: Stored<CSINode>) => nodeErrors(spec.drivers ?? []),
  validateUpdate: ({ spec }: Stored<CSINode>, old: Stored<CSINode>) =>
    (old.spec.drivers ?? []).flatMap((before) =>
      (spec.drivers ?? [])
        .filter(({ name }) => name === before.name)
        .flatMap(({ allocatable: _now, ...now }) => {
          const { allocatable: _before, ...rest } = before;
          const isSame = deepEqual(
            { ...now, topologyKeys: now.topologyKeys ?? [] },
            { ...rest, topologyKeys: rest.topologyKeys ?? [] },
          );
          return isSame ? [] : [changed("spec.drivers", driverText(now))];
        }),
    ),
};

/** Go shows what may not change with the names that its fields have there. */
function changed(field: string, shown: object): FieldError {
  const message = `Invalid value: ${JSON.stringify(shown)}: field is immutable`;
  return { reason: "FieldValueInvalid", field, message };
}

function driverText({ name, nodeID, topologyKeys }: { name: string; nodeID: string; topologyKeys?: string[] }): object {
  return { Name: name, NodeID: nodeID, TopologyKeys: topologyKeys ?? null, Allocatable: null };
}

function nodeErrors(drivers: CSINode["spec"]["drivers"]): FieldError[] {
  return drivers.flatMap(({ name, nodeID, topologyKeys, allocatable }, index) => {
    const at = `spec.drivers[${index}]`;
    const errors = driverNameErrors(name ?? "", `${at}.name`);
    if (!nodeID) errors.push(required(`${at}.nodeID`));
    else if (nodeID.length > LONGEST_NODE_ID) {
      errors.push(invalidValue(`${at}.nodeID`, nodeID, `must be ${LONGEST_NODE_ID} characters or less`));
    }
    append(errors, nonNegative(`${at}.allocatable.count`, allocatable?.count));
    if (drivers.findIndex((one) => one.name === name) < index) errors.push(duplicate(`${at}.name`, name));
    topologyKeys?.forEach((key, place) => {
      if (key === "") errors.push(required(at));
      if (topologyKeys.indexOf(key) < place) errors.push(duplicate(at, key));
      append(errors, named(at, key, qualifiedNameErrors(key)));
    });
    return errors;
  });
}

export const csiStorageCapacity: Strategy = {
  validateChange: (object: Stored<CSIStorageCapacity>, old: Stored<CSIStorageCapacity>) => [
    ...immutable("nodeTopology", object.nodeTopology, old.nodeTopology),
    ...immutable("storageClassName", object.storageClassName, old.storageClassName),
  ],
  validate({ nodeTopology, storageClassName, capacity }: Stored<CSIStorageCapacity>) {
    return [
      ...(nodeTopology ? labelSelectorErrors(nodeTopology as never, "nodeTopology") : []),
      ...named("storageClassName", storageClassName, dns1123SubdomainErrors(storageClassName)),
      ...(capacity !== undefined && parseQuantity(String(capacity)).sign() < 0
        ? [invalidValue("capacity", capacity, "must be greater than or equal to 0")]
        : []),
    ];
  },
};

export const volumeAttachment: Strategy = {
  validate: (object: Stored<VolumeAttachment>) => attachmentErrors(object),
  validateChange: (object: Stored<VolumeAttachment>, old: Stored<VolumeAttachment>) => [
    ...attachmentErrors(object),
    ...(deepEqual(object.spec, old.spec) ? [] : [changed("spec", attachmentText(object.spec))]),
  ],
  validateStatusUpdate: (object: Stored<VolumeAttachment>) => attachmentErrors(object),
};

function attachmentText({ attacher, nodeName, source }: VolumeAttachment["spec"]): object {
  const { persistentVolumeName = null, inlineVolumeSpec = null } = source;
  const shown = { PersistentVolumeName: persistentVolumeName, InlineVolumeSpec: inlineVolumeSpec };
  return { Attacher: attacher, Source: shown, NodeName: nodeName };
}

function attachmentErrors({ spec, status }: WorkingObject & VolumeAttachment): FieldError[] {
  const { attacher, nodeName, source } = spec;
  const errors = driverNameErrors(attacher, "spec.attacher");
  const { inlineVolumeSpec: inline, persistentVolumeName: volume } = source;
  const one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  if (inline === undefined && volume === undefined) errors.push(required("spec.source", one));
  else if (inline !== undefined && volume !== undefined) errors.push(forbidden("spec.source", one));
  else if (volume === "") {
    errors.push(required("spec.source.persistentVolumeName", "must specify non empty persistentVolumeName"));
  }
  append(errors, named("spec.nodeName", nodeName, dns1123SubdomainErrors(nodeName)));
  const bytes = sizeOf(status?.attachmentMetadata);
  if (bytes > MOST_BYTES) errors.push(tooLong("status.attachmentMetadata", MOST_BYTES));
  for (const name of ["attachError", "detachError"] as const) {
    const { message = "", errorCode } = status?.[name] ?? {};
    if (message.length > LONGEST_ERROR) errors.push(tooLong(`status.${name}.message`, MOST_BYTES));
    if (errorCode !== undefined && errorCode < 0) {
      const detail = "must be between 0 and 2147483647, inclusive";
      errors.push(invalidValue(`status.${name}.errorCode`, errorCode, detail));
    }
  }
  if (volume !== undefined) {
    append(errors, named("spec.source.persistentVolumeName", volume, dns1123SubdomainErrors(volume)));
  }
  return errors;
}

function sizeOf(values: Record<string, string> = {}): number {
  return Object.entries(values).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
}

/** What is wrong with the name of a provisioner. */
export function provisionerErrors(name: string, field: string): FieldError[] {
  return name === "" ? [required(field)] : named(field, name.toLowerCase(), qualifiedNameErrors(name.toLowerCase()));
}

/** What is wrong with the parameters of a provisioner. */
export function parameterErrors(parameters: Record<string, string> = {}, field: string): FieldError[] {
  const names = Object.keys(parameters);
  if (names.length > MOST_PARAMETERS) return [tooLong(field, MOST_PARAMETERS)];
  return [
    ...names.filter((name) => name === "").map((name) => invalidValue(field, name, "field can not be empty.")),
    ...(sizeOf(parameters) > MOST_BYTES ? [tooLong(field, MOST_BYTES)] : []),
  ];
}

export const volumeAttributesClass: Strategy = {
  validate: (object: Stored<VolumeAttributesClass>) => attributesClassErrors(object),
  validateChange: (object: Stored<VolumeAttributesClass>, old: Stored<VolumeAttributesClass>) => [
    ...(object.driverName === old.driverName ? [] : [forbidden("driverName", "updates to driverName are forbidden.")]),
    ...(deepEqual(object.parameters, old.parameters)
      ? []
      : [forbidden("parameters", "updates to parameters are forbidden.")]),
    ...attributesClassErrors(object),
  ],
};

function attributesClassErrors({ driverName, parameters }: VolumeAttributesClass): FieldError[] {
  return [
    ...provisionerErrors(driverName ?? "", "driverName"),
    ...parameterErrors(parameters, "parameters"),
    ...(Object.keys(parameters ?? {}).length === 0
      ? [required("parameters", "must contain at least one key/value pair")]
      : []),
  ];
}
