import {
  type ApiError,
  append,
  badRequest,
  dns1123SubdomainErrors,
  type FieldError,
  type Mutable,
  maskTrailingDash,
  type ObjectMeta,
  type OwnerReference,
  pathSegmentErrors,
  timestamp,
  toGoJson,
} from "@konverge/core";
import {
  annotationErrors,
  forbidden,
  invalidValue,
  labelErrors,
  type NameRule,
  objectMetaErrors,
  ownerErrors,
  unqualifiedFinalizerErrors,
} from "@konverge/schema";
import type { Call } from "../call/call.ts";
import type { WorkingObject } from "../codec/working-object.ts";

/** Drops what only the server may say, before a create. */
export function wipeSystemFields(metadata: Mutable<ObjectMeta>): void {
  for (const field of SYSTEM_FIELDS) delete metadata[field];
}

const SYSTEM_FIELDS = [
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "selfLink",
] as const;

export function fillSystemFields(call: Call, metadata: Mutable<ObjectMeta>): void {
  metadata.uid = call.clock.random.uuid();
  metadata.creationTimestamp = timestamp(call.clock);
}

/** The namespace of an object is that of the request: filled in where it is missing, refused where it is another. */
export function matchNamespace({ definition, info }: Call, metadata: Mutable<ObjectMeta>): void {
  const wanted = definition.namespaced ? info.namespace : "";
  const given = metadata.namespace ?? "";
  if (given === wanted) return;
  if (wanted === "") delete metadata.namespace;
  else if (given === "") metadata.namespace = wanted;
  else throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
}

/** The name in the body of an update must be that of the path. */
export function checkName({ info }: Call, { name = "" }: Partial<ObjectMeta>): void {
  if (name === info.name) return;
  if (name === "") throw undeterminableName(info);
  throw badRequest(`the name of the object (${name}) does not match the name on the URL (${info.name})`);
}

/** The body of an update has no name. */
export function undeterminableName({ name }: Call["info"]): ApiError {
  return badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
}

const DUPLICATE_OWNERS = (when: string) =>
  `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: `;

/** Owner references that say the same twice say it once, with a warning. */
export function dropDuplicateOwners(call: Call, metadata: Mutable<ObjectMeta>, { admitted = false } = {}): void {
  const owners = metadata.ownerReferences;
  if (!owners || owners.length < 2) return;
  const kept = new Map<string, OwnerReference>();
  const duplicates: string[] = [];
  for (const owner of owners) {
    const text = toGoJson(owner);
    if (kept.has(text)) duplicates.push(owner.uid);
    else kept.set(text, owner);
  }
  if (duplicates.length === 0) return;
  const when = admitted ? " after mutating admission happens" : "";
  call.warn(DUPLICATE_OWNERS(when) + duplicates.join(", "));
  metadata.ownerReferences = [...kept.values()];
}

/** Names of most built-in kinds are DNS subdomains; a trailing dash of a prefix is hidden. */
const subdomainName: NameRule = (name, isPrefix) => dns1123SubdomainErrors(isPrefix ? maskTrailingDash(name) : name);

/** All that is wrong with the metadata of a new object. */
export function metadataErrors({ definition }: Call, metadata: ObjectMeta): FieldError[] {
  const nameErrors = definition.strategy.nameErrors ?? subdomainName;
  return [
    ...objectMetaErrors(metadata, { namespaced: definition.namespaced, nameErrors }, "metadata"),
    ...legacyFinalizerErrors(definition, metadata),
  ];
}

/** All that is wrong with the metadata of an object after an update; some of it several times, as in the real server. */
export function metadataUpdateErrors(call: Call, metadata: ObjectMeta, old: ObjectMeta): FieldError[] {
  const { namespaced, strategy } = call.definition;
  const errors = objectMetaErrors(metadata, { namespaced, nameErrors: pathSegmentErrors }, "metadata");
  const isSound = errors.length === 0;
  const changes = changeErrors(metadata, old, isSound);
  append(errors, changes);
  for (const check of strategy.metadataChecks ?? ["changes"]) {
    // Of what has been found in order, the rules for new objects judge the names in another way, and nothing else.
    if (check === "new") append(errors, metadataErrors(call, isSound ? namesOf(metadata) : metadata));
    else {
      append(errors, changes);
      append(errors, legacyFinalizerErrors(call.definition, metadata));
    }
  }
  return errors;
}

/** These groups' servers are only in the same process as the one for all other built-in kinds. */
const SEPARATE_GROUPS = ["apiextensions.k8s.io", "apiregistration.k8s.io"];

function legacyFinalizerErrors(definition: Call["definition"], { finalizers = [] }: ObjectMeta): FieldError[] {
  if (definition.custom || SEPARATE_GROUPS.includes(definition.group)) return [];
  return finalizers.flatMap((name, index) => unqualifiedFinalizerErrors(name, `metadata.finalizers[${index}]`));
}

function namesOf({ name, generateName, namespace, finalizers }: ObjectMeta): ObjectMeta {
  return {
    name,
    ...(generateName !== undefined && { generateName }),
    ...(namespace !== undefined && { namespace }),
    ...(finalizers && { finalizers }),
  };
}

/** What an update may not change, and what it may have broken, unless that is known to be `sound`. */
function changeErrors(metadata: ObjectMeta, old: ObjectMeta, sound: boolean): FieldError[] {
  const errors: FieldError[] = [];
  if (old.deletionTimestamp !== undefined) {
    const known = new Set(old.finalizers ?? []);
    const added = [...new Set(metadata.finalizers ?? [])].filter((finalizer) => !known.has(finalizer)).sort();
    if (added.length > 0) {
      const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${goStrings(added)}`;
      errors.push(forbidden("metadata.finalizers", detail));
    }
  }
  if ((metadata.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(invalidValue("metadata.generation", metadata.generation ?? 0, "must not be decremented"));
  }
  for (const field of IMMUTABLE_FIELDS) {
    if ((metadata[field] ?? EMPTY[field]) === (old[field] ?? EMPTY[field])) continue;
    errors.push(invalidValue(`metadata.${field}`, metadata[field] ?? EMPTY[field], "field is immutable"));
  }
  if (sound) return errors;
  return [
    ...errors,
    ...labelErrors(metadata.labels ?? {}, "metadata.labels"),
    ...annotationErrors(metadata.annotations ?? {}, "metadata.annotations"),
    ...ownerErrors(metadata.ownerReferences ?? [], "metadata.ownerReferences"),
  ];
}

const IMMUTABLE_FIELDS = [
  "name",
  "namespace",
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
] as const;
const EMPTY: Record<(typeof IMMUTABLE_FIELDS)[number], string | null> = {
  name: "",
  namespace: "",
  uid: "",
  creationTimestamp: null,
  deletionTimestamp: null,
  deletionGracePeriodSeconds: null,
};

/** As Go prints a list of strings with %#v. */
function goStrings(values: readonly string[]): string {
  return `[]string{${values.map((value) => JSON.stringify(value)).join(", ")}}`;
}

/** Before an update: what only the server may say is as it was, unless validation is to see the attempt. */
export function keepSystemFields(object: WorkingObject, old: WorkingObject): void {
  const { metadata } = object;
  metadata.uid ||= old.metadata.uid;
  metadata.creationTimestamp = old.metadata.creationTimestamp;
  if (old.metadata.deletionTimestamp !== undefined) metadata.deletionTimestamp = old.metadata.deletionTimestamp;
  metadata.deletionGracePeriodSeconds ??= old.metadata.deletionGracePeriodSeconds;
  if (metadata.deletionGracePeriodSeconds === undefined) delete metadata.deletionGracePeriodSeconds;
}
