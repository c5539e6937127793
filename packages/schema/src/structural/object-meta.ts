import {
  append,
  dns1123LabelErrors,
  type FieldError,
  labelValueErrors,
  type ObjectMeta,
  type OwnerReference,
  parseApiVersion,
  qualifiedNameErrors,
} from "@konverge/core";
import { forbidden, invalidValue, required, tooLong } from "./field-errors.ts";

/** What is wrong with a name. `isPrefix`: letters will be appended to it. */
export type NameRule = (name: string, isPrefix: boolean) => string[];

/** Checks the metadata of a new object. `path` is where it stands: `metadata`. */
export function objectMetaErrors(
  metadata: Partial<ObjectMeta>,
  kind: { namespaced: boolean; nameErrors: NameRule },
  path: string,
): FieldError[] {
  const { name = "", generateName = "", namespace = "" } = metadata;
  const errors: FieldError[] = [];
  if (generateName !== "") {
    for (const problem of kind.nameErrors(generateName, true)) {
      errors.push(invalidValue(`${path}.generateName`, generateName, problem));
    }
  }
  if (name === "") errors.push(required(`${path}.name`, "name or generateName is required"));
  else for (const problem of kind.nameErrors(name, false)) errors.push(invalidValue(`${path}.name`, name, problem));
  if (kind.namespaced) {
    if (namespace === "") errors.push(required(`${path}.namespace`));
    else {
      for (const problem of dns1123LabelErrors(namespace)) {
        errors.push(invalidValue(`${path}.namespace`, namespace, problem));
      }
    }
  } else if (namespace !== "") errors.push(forbidden(`${path}.namespace`, "not allowed on this type"));
  if ((metadata.generation ?? 0) < 0) {
    errors.push(invalidValue(`${path}.generation`, metadata.generation, "must be greater than or equal to 0"));
  }
  return [
    ...errors,
    ...labelErrors(metadata.labels ?? {}, `${path}.labels`),
    ...annotationErrors(metadata.annotations ?? {}, `${path}.annotations`),
    ...ownerErrors(metadata.ownerReferences ?? [], `${path}.ownerReferences`),
    ...finalizerErrors(metadata.finalizers ?? [], `${path}.finalizers`),
    ...managedFieldsErrors(metadata.managedFields ?? [], `${path}.managedFields`),
  ];
}

/** Checks the keys and values of labels. */
export function labelErrors(labels: Record<string, string>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const key in labels) {
    const value = labels[key]!;
    for (const problem of qualifiedNameErrors(key)) errors.push(invalidValue(path, key, problem));
    for (const problem of labelValueErrors(value)) errors.push(invalidValue(path, value, problem));
  }
  return errors;
}

const ANNOTATIONS_LIMIT = 256 * 1024;

/** Checks the keys of annotations, and their size in all. */
export function annotationErrors(annotations: Record<string, string>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  let size = 0;
  for (const key in annotations) {
    for (const problem of qualifiedNameErrors(key.toLowerCase())) errors.push(invalidValue(path, key, problem));
    size += Buffer.byteLength(key) + Buffer.byteLength(annotations[key]!);
  }
  if (size > ANNOTATIONS_LIMIT) errors.push(tooLong(path, ANNOTATIONS_LIMIT));
  return errors;
}

/** Checks owner references: complete, and at most one controller among them. */
export function ownerErrors(owners: readonly OwnerReference[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  let controller = "";
  let shown: string | undefined;
  for (const owner of owners) {
    const { group, version } = parseApiVersion(owner.apiVersion);
    if (version === "") errors.push(invalidValue(`${path}.apiVersion`, owner.apiVersion, "version must not be empty"));
    for (const field of ["kind", "name", "uid"] as const) {
      if (owner[field] === "") errors.push(invalidValue(`${path}.${field}`, owner[field], "must not be empty"));
    }
    if (group === "" && version === "v1" && owner.kind === "Event") {
      errors.push(invalidValue(path, owner, "/v1, Kind=Event is disallowed from being an owner"));
    }
    if (owner.controller !== true) continue;
    const name = `${owner.kind}/${owner.name}`;
    if (controller === "") controller = name;
    else {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
      shown ??= JSON.stringify(owners.map(inFieldOrder));
      errors.push({ reason: "FieldValueInvalid", field: path, message: `Invalid value: ${shown}: ${detail}` });
    }
  }
  return errors;
}

/** Checks the names of finalizers. */
export function finalizerErrors(finalizers: readonly string[], path: string): FieldError[] {
  const errors = finalizers.flatMap((finalizer) =>
    qualifiedNameErrors(finalizer).map((problem) => invalidValue(path, finalizer, problem)),
  );
  if (finalizers.includes("orphan") && finalizers.includes("foregroundDeletion")) {
    errors.push(invalidValue(path, finalizers, "finalizer orphan and foregroundDeletion cannot be both set"));
  }
  return errors;
}

const STANDARD_FINALIZERS = new Set(["kubernetes", "orphan", "foregroundDeletion"]);

/** Most built-in kinds insist on a domain in the name of a finalizer. */
export function unqualifiedFinalizerErrors(finalizer: string, path: string): FieldError[] {
  if (finalizer.includes("/") || STANDARD_FINALIZERS.has(finalizer)) return [];
  return [invalidValue(path, finalizer, "name is neither a standard finalizer name nor is it fully qualified")];
}

function managedFieldsErrors(entries: NonNullable<ObjectMeta["managedFields"]>, path: string): FieldError[] {
  return entries.flatMap((entry, index) => {
    const { operation, fieldsType, manager = "", subresource = "" } = entry;
    const isKnown = (operation === "Apply" || operation === "Update") && (!fieldsType || fieldsType === "FieldsV1");
    if (isKnown && PLAIN_MANAGER.test(manager) && subresource.length <= 256) return [];
    const errors: FieldError[] = [];
    const at = `${path}[${index}]`;
    if (entry.operation !== "Apply" && entry.operation !== "Update") {
      errors.push(invalidValue(`${at}.operation`, entry.operation ?? "", "must be `Apply` or `Update`"));
    }
    if (entry.fieldsType !== undefined && (entry.fieldsType as string) !== "" && entry.fieldsType !== "FieldsV1") {
      errors.push(invalidValue(`${at}.fieldsType`, entry.fieldsType, "must be `FieldsV1`"));
    }
    append(errors, fieldManagerErrors(entry.manager ?? "", `${at}.manager`));
    if ((entry.subresource ?? "").length > 256) errors.push(tooLong(`${at}.subresource`, 256));
    return errors;
  });
}

/** What nearly all field managers are called. */
const PLAIN_MANAGER = /^[ -~]{0,128}$/;

/** Checks the name of a field manager: printable, and not too long. */
export function fieldManagerErrors(manager: string, path: string): FieldError[] {
  if (PLAIN_MANAGER.test(manager)) return [];
  const errors = Buffer.byteLength(manager) > 128 ? [tooLong(path, 128)] : [];
  let position = 0;
  for (const character of manager) {
    if (!/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(character)) {
      errors.push(invalidValue(path, manager, `invalid character U+${hex(character)} (at position ${position})`));
    }
    position += Buffer.byteLength(character);
  }
  return errors;
}

function hex(character: string): string {
  return character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
}

/** An owner reference with its fields in the order in which the server writes them. */
function inFieldOrder({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference): OwnerReference {
  return {
    apiVersion,
    kind,
    name,
    uid,
    ...(controller !== undefined && { controller }),
    ...(blockOwnerDeletion !== undefined && { blockOwnerDeletion }),
  };
}
