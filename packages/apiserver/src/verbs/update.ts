import {
  ApiError,
  conflict,
  deepEqual,
  type FieldError,
  invalid,
  modified,
  notFound,
  stringifyJson,
} from "@konverge/core";
import { keepTimesOfNoop } from "@konverge/schema/structured-merge";
import { forbiddenError, resourceAttributes } from "../auth/attributes.ts";
import { type Call, errorKind, requestVersion, strategyContext, workingVersion } from "../call/call.ts";
import { asStored, brought } from "../call/stored.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import { contentOf, convertTo, objectOf, storageKey } from "../resources/stored-object.ts";
import type { Entry } from "../storage/entry.ts";
import { checkNotTerminating, storeNew, type Written } from "./create.ts";
import { mutated, recordUpdate } from "./managed-fields.ts";
import { dropDuplicateOwners, keepSystemFields, metadataUpdateErrors } from "./metadata.ts";
import { registryKey } from "./registry-key.ts";
import { parseProblem, revisionOf } from "./resource-version.ts";

/** Makes an object of the one that is there. */
export type StoredChange = (live: WorkingObject) => WorkingObject | Promise<WorkingObject>;

export interface UpdateOptions {
  /** Record the writer as owner of what changes. Apply has done so already. */
  ownership?: boolean;
  /** The object must be this one. */
  uid?: string | undefined;
  /** Says something else than the objects to admission, which has been asked for changes already. */
  admission?: (object: WorkingObject, old: WorkingObject) => Promise<void>;
  /** Makes the object where there is none, in the version of the request and with its ownership recorded. */
  create?: () => WorkingObject | Promise<WorkingObject>;
}

/**
 * Changes an object by a function of its current state, both in the version of the request; the function is called again
 * after a concurrent write, and must not change what it is given. A result that carries a resourceVersion
 * insists on it.
 */
export async function updateObject(call: Call, change: StoredChange, options: UpdateOptions = {}): Promise<Written> {
  const { definition, store } = call;
  const key = storageKey(definition, call.info.namespace, call.info.name);
  for (;;) {
    const entry = store.collection(definition.storage).get(key);
    if (!entry) {
      if (!options.create) throw notFound(definition, call.info.name);
      if (options.uid) throw uidMismatch(call, key, options.uid, "");
      return createInstead(call, await options.create());
    }
    const written = await updateOnce(call, key, entry, change, options);
    if (written) return written;
  }
}

/** Undefined after a concurrent write. */
async function updateOnce(
  call: Call,
  key: string,
  entry: Entry,
  change: StoredChange,
  { ownership = true, uid, admission }: UpdateOptions,
): Promise<Written | undefined> {
  const { definition, store } = call;
  const stored = objectOf(entry);
  if (uid && uid !== stored.metadata.uid) throw uidMismatch(call, key, uid, stored.metadata.uid ?? "");
  const live = await brought(call, stored);
  const changed = await change(live);
  const owned = ownership ? await recordUpdate(call, live, changed) : changed;
  const admitted = admission ? owned : await mutated(call, owned, live, "UPDATE");
  dropDuplicateOwners(call, admitted.metadata, { admitted: true });
  checkVersion(call, admitted, stored);

  const old = definition.custom ? live : stored;
  const object = await convertTo(definition, admitted, workingVersion(call));
  prepare(call, object, old);
  const kept = keepTimesOfNoop(old, object) as WorkingObject;
  const updated = await convertTo(definition, kept, requestVersion(call));
  if (admission) await admission(updated, live);
  else await call.admission.validate(call, updated, live, "UPDATE");

  const next = await asStored(call, kept);
  if (store.collection(definition.storage).get(key) !== entry) return undefined;
  if (isRemoval(call, object, old)) {
    if (!call.dryRun) {
      store.remove(definition.storage, key, contentOf(definition, stored));
      definition.strategy.afterWrite?.(undefined, stored, strategyContext(call));
    }
    return { object: next, created: false };
  }
  if (isAsStored(call, next, stored, entry)) return { object: next, entry, created: false };
  if (call.dryRun) return { object: next, created: false };
  const written = store.put(definition.storage, key, contentOf(definition, next));
  definition.strategy.afterWrite?.(next, stored, strategyContext(call));
  return { object: next, entry: written, created: false };
}

/** Whether storing an object would change nothing, not even the order of anything. */
function isAsStored({ definition }: Call, next: WorkingObject, stored: WorkingObject, entry: Entry): boolean {
  // Most writes change something, which is found out sooner than what the text would be.
  if (!deepEqual(next.metadata.managedFields ?? [], stored.metadata.managedFields ?? [])) return false;
  const canonical = definition.storageCodec.canonical(next);
  return deepEqual(canonical, stored) && stringifyJson(canonical) === entry.text;
}

async function createInstead(call: Call, draft: WorkingObject): Promise<Written> {
  const { definition, info, user } = call;
  const { group, plural: resource } = definition;
  const { subresource, namespace, name } = info;
  const action = resourceAttributes("create", { group, resource, subresource, namespace, name });
  checkNotTerminating(call, draft);
  const admitted = await mutated(call, draft, undefined, "CREATE");
  const { allowed, reason } = call.authorize(user, action);
  if (!allowed) throw forbiddenError(user, action, reason);
  // What version it was based on does not matter where there is none; a dry run returns it all the same.
  if (!call.dryRun) delete admitted.metadata.resourceVersion;
  return storeNew(call, admitted);
}

function checkVersion({ definition, info }: Call, object: WorkingObject, stored: WorkingObject): void {
  const { metadata } = object;
  const given = metadata.resourceVersion ?? "";
  if (revisionOf(given) === undefined) throw new ApiError({ code: 500, message: parseProblem(given) });
  const isMissing = given === "" || given === "0";
  if (isMissing && definition.strategy.allowUnconditionalUpdate) {
    metadata.resourceVersion = stored.metadata.resourceVersion;
  } else if (isMissing) {
    throw invalid({ group: definition.group, kind: definition.plural }, info.name, [
      {
        reason: "FieldValueInvalid",
        field: "metadata.resourceVersion",
        message: "Invalid value: 0: must be specified for an update",
      },
    ]);
  } else if (given !== stored.metadata.resourceVersion) throw modified(definition, info.name);
}

function prepare(call: Call, object: WorkingObject, old: WorkingObject): void {
  const { definition, info } = call;
  const { strategy } = definition;
  const context = strategyContext(call);
  if (old.metadata.generation === undefined) delete object.metadata.generation;
  else object.metadata.generation = old.metadata.generation;
  separateStatus(call, object, old);
  strategy.prepareForUpdate?.(object, old, context);
  if (strategy.hasGeneration && info.subresource !== "status" && changesGeneration(call, object, old)) {
    object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  }
  keepSystemFields(object, old);
  const errors = [...metadataUpdateErrors(call, object.metadata, old.metadata), ...updateErrors(call, object, old)];
  if (errors.length > 0) {
    throw invalid(errorKind(call), object.metadata.name, errors);
  }
  for (const text of strategy.warnings?.(object, context, old) ?? []) call.warn(text);
  strategy.canonicalize?.(object);
}

function updateErrors(call: Call, object: WorkingObject, old: WorkingObject): FieldError[] {
  const { strategy } = call.definition;
  const context = strategyContext(call);
  if (call.info.subresource === "status" && strategy.validateStatusUpdate) {
    return strategy.validateStatusUpdate(object, old, context);
  }
  if (strategy.validateChange) return strategy.validateChange(object, old, context);
  return [...(strategy.validate?.(object, context) ?? []), ...(strategy.validateUpdate?.(object, old, context) ?? [])];
}

/** A status request changes the status only; any other does not change it, where the kind has that subresource. */
function separateStatus({ definition, version, info }: Call, object: WorkingObject, old: WorkingObject): void {
  const hasStatus = version.subresources.has("status");
  const ofStatus = new Set(definition.strategy.statusFields ?? (hasStatus ? ["status"] : []));
  const isStatus = info.subresource === "status";
  for (const key of new Set([...Object.keys(object), ...Object.keys(old)])) {
    if (key === "metadata" || key === "apiVersion" || key === "kind" || ofStatus.has(key) === isStatus) continue;
    if (old[key] === undefined) delete object[key];
    else object[key] = old[key];
  }
  if (isStatus && definition.custom) {
    const { managedFields, resourceVersion } = object.metadata;
    object.metadata = { ...old.metadata, ...(resourceVersion && { resourceVersion }) };
    if (managedFields) object.metadata.managedFields = managedFields;
    else delete object.metadata.managedFields;
  }
}

function changesGeneration({ definition, version }: Call, object: WorkingObject, old: WorkingObject): boolean {
  const { strategy } = definition;
  if (strategy.changesGeneration) return strategy.changesGeneration(object, old);
  const apart = new Set(["metadata", "apiVersion", "kind", ...(strategy.statusFields ?? [])]);
  if (version.subresources.has("status")) apart.add("status");
  const keys = new Set([...Object.keys(object), ...Object.keys(old)]);
  return [...keys].some((key) => !apart.has(key) && !deepEqual(object[key], old[key]));
}

/** The update that takes away the last finalizer of an object that is being deleted ends it. */
function isRemoval({ definition }: Call, object: WorkingObject, old: WorkingObject): boolean {
  if (object.metadata.finalizers?.length || old.metadata.deletionTimestamp === undefined) return false;
  return !old.metadata.deletionGracePeriodSeconds && !definition.strategy.isHeld?.(object);
}

function uidMismatch({ definition, info, dryRun }: Call, key: string, uid: string, actual: string): ApiError {
  const what = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${actual}`;
  const place = registryKey(definition, key, { dryRun });
  const why = `StorageError: invalid object, Code: 4, Key: ${place}, ResourceVersion: 0, AdditionalErrorMsg: ${what}`;
  return conflict(definition, info.name, why);
}
