import { type ApiError, type ApiResponse, conflict, forbidden, notFound, timestamp } from "@konverge/core";
import { type Call, strategyContext } from "../call/call.ts";
import { readEntry } from "../call/stored.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import type { DeleteOptions } from "../http/query.ts";
import { bodyResponse, entryResponse, objectResponse } from "../representation/answer.ts";
import { contentOf, objectOf, storageKey } from "../resources/stored-object.ts";
import type { Entry } from "../storage/entry.ts";
import { readDeleteOptions } from "./delete-options.ts";

/** How a deletion ended: the object is deleted, or it stays until its finalizers are removed. */
export interface Deleted {
  readonly isDeleted: boolean;
  /** The object's last state, in the stored version. */
  readonly object: WorkingObject;
  /** What is stored now, where the object stays. */
  readonly entry?: Entry;
}

/** Answers a DELETE of one object. */
export async function deleteOne(given: Call): Promise<ApiResponse> {
  const options = readDeleteOptions(given);
  const call = { ...given, dryRun: (options.dryRun?.length ?? 0) > 0 };
  const refusal = call.definition.strategy.undeletable?.(call.info.name);
  if (refusal) throw forbidden(call.definition, call.info.name, refusal);
  const deleted = await deleteObject(call, options);
  await call.store.durable();
  const status = !deleted.isDeleted && options.orphanDependents === false ? 202 : 200;
  if (deleted.entry) return entryResponse(call, deleted.entry, status);
  if (!deleted.isDeleted || call.definition.strategy.returnsDeleted)
    return objectResponse(call, deleted.object, status);
  return bodyResponse(status, deletedStatus(call, deleted.object), call.form);
}

/**
 * Deletes an object, or marks it when finalizers (or a grace period) hold it: the deletion then ends with the update that
 * removes the last finalizer, or with another delete without grace.
 */
export async function deleteObject(call: Call, options: DeleteOptions, name = call.info.name): Promise<Deleted> {
  const { definition, store } = call;
  for (;;) {
    const key = storageKey(definition, call.info.namespace, name);
    const entry = store.collection(definition.storage).get(key);
    if (!entry) throw notFound(definition, name);
    const object = objectOf(entry);
    checkPreconditions(call, object, options);
    const plan = planDeletion(call, object, options);
    if (plan === "pending") return { isDeleted: false, object, entry };
    const old = await readEntry(call, entry);
    await call.admission.mutate(call, undefined, old, "DELETE");
    await call.admission.validate(call, undefined, old, "DELETE");
    if (store.collection(definition.storage).get(key) !== entry) continue;

    if (plan === "remove" || plan === "mark and remove") {
      if (!call.dryRun) {
        // An object without grace period is first marked, then removed: watchers get both events.
        if (plan === "mark and remove") store.put(definition.storage, key, contentOf(definition, object));
        store.remove(definition.storage, key, contentOf(definition, object));
        definition.strategy.afterWrite?.(undefined, object, strategyContext(call));
      }
      return { isDeleted: true, object };
    }
    if (call.dryRun || isSame(object, entry)) return { isDeleted: false, object, ...(!call.dryRun && { entry }) };
    const marked = store.put(definition.storage, key, contentOf(definition, object));
    definition.strategy.afterWrite?.(object, old, strategyContext(call));
    return { isDeleted: false, object, entry: marked };
  }
}

function isSame(object: WorkingObject, entry: Entry): boolean {
  return JSON.stringify(object.metadata) === JSON.stringify(objectOf(entry).metadata);
}

/** Changes the object into what stays of it, and says whether it does. `pending`: nothing is to be done at all. */
function planDeletion(
  call: Call,
  object: WorkingObject,
  options: DeleteOptions,
): "remove" | "mark" | "mark and remove" | "pending" {
  const { strategy } = call.definition;
  const { metadata } = object;
  if (metadata.deletionTimestamp !== undefined) {
    if (strategy.isHeld?.(object)) return "pending";
  } else if (strategy.markDeleted) {
    metadata.deletionTimestamp = timestamp(call.clock);
    strategy.markDeleted(object, options, strategyContext(call));
    return "mark";
  }
  const graceful = planGrace(call, object, options);
  if (graceful === "pending") return "pending";
  const finalizers = finalizersFor(call, object, options);
  if (finalizers.length > 0) metadata.finalizers = finalizers;
  else delete metadata.finalizers;
  const isHeld = finalizers.length > 0 || strategy.isHeld?.(object);
  if (graceful === "none" && !isHeld) return "remove";
  if (graceful === "none") {
    if (metadata.deletionTimestamp === undefined) {
      if (metadata.generation) metadata.generation += 1;
      metadata.deletionTimestamp = timestamp(call.clock);
    } else if (Date.parse(metadata.deletionTimestamp) > call.clock.now()) {
      metadata.deletionTimestamp = timestamp(call.clock);
    }
    metadata.deletionGracePeriodSeconds = 0;
  }
  return graceful === "now" && !isHeld ? "mark and remove" : "mark";
}

/**
 * Sets deletionTimestamp and grace period of kinds that have one. `none`: the kind has no grace; `now`: none is left;
 * `pending`: a deletion with no longer grace is on its way already.
 */
function planGrace(call: Call, object: WorkingObject, options: DeleteOptions): "none" | "now" | "later" | "pending" {
  const { strategy } = call.definition;
  const { metadata } = object;
  if (!strategy.gracePeriod) return "none";
  const requested = options.gracePeriodSeconds;
  const wanted = requested !== undefined && requested < 0 ? 1 : requested;
  if (metadata.deletionTimestamp !== undefined) {
    const current = metadata.deletionGracePeriodSeconds;
    if (!current) return "none";
    if (wanted === undefined || wanted >= current) return "pending";
    const shortened = Date.parse(metadata.deletionTimestamp) - (current - wanted) * 1000;
    const isPast = shortened < call.clock.now();
    metadata.deletionTimestamp = at(isPast ? call.clock.now() : shortened);
    metadata.deletionGracePeriodSeconds = isPast && wanted !== 0 ? 1 : wanted;
    return wanted === 0 ? "now" : "later";
  }
  const seconds = strategy.gracePeriod(object, wanted);
  if (seconds === undefined) return "none";
  metadata.deletionTimestamp = at(call.clock.now() + seconds * 1000);
  metadata.deletionGracePeriodSeconds = seconds;
  if (metadata.generation) metadata.generation += 1;
  return seconds === 0 ? "now" : "later";
}

function at(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

const ORPHAN = "orphan";
const FOREGROUND = "foregroundDeletion";

/** The finalizers after this deletion: those for the garbage collector follow its propagation policy. */
function finalizersFor({ definition }: Call, { metadata }: WorkingObject, options: DeleteOptions): string[] {
  const finalizers = metadata.finalizers ?? [];
  const policy = definition.strategy.dependents ?? "delete";
  const { orphanDependents, propagationPolicy } = options;
  const wants = (finalizer: string, propagation: string, byDefault: boolean): boolean => {
    if (policy === "unsupported") return false;
    if (orphanDependents !== undefined) return finalizer === ORPHAN && orphanDependents;
    if (propagationPolicy !== undefined) return propagationPolicy === propagation;
    const asked = finalizers.find((each) => each === ORPHAN || each === FOREGROUND);
    return asked === undefined ? byDefault : asked === finalizer;
  };
  const added = [
    ...(wants(ORPHAN, "Orphan", policy === "orphan") ? [ORPHAN] : []),
    ...(wants(FOREGROUND, "Foreground", false) ? [FOREGROUND] : []),
  ];
  const kept = finalizers.filter((each) => each !== ORPHAN && each !== FOREGROUND);
  const isSameSet =
    kept.length + added.length === finalizers.length && added.every((each) => finalizers.includes(each));
  return isSameSet ? [...finalizers] : [...kept, ...added];
}

function checkPreconditions(call: Call, { metadata }: WorkingObject, { preconditions = {} }: DeleteOptions): void {
  const { uid, resourceVersion } = preconditions;
  if (uid !== undefined && uid !== metadata.uid) {
    const what = "deleted and then recreated";
    throw preconditionFailed(call, metadata.name, "UID", uid, metadata.uid, what);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw preconditionFailed(
      call,
      metadata.name,
      "ResourceVersion",
      resourceVersion,
      metadata.resourceVersion,
      "modified",
    );
  }
}

function preconditionFailed(
  { definition, version }: Call,
  name: string,
  field: string,
  wanted: string,
  found: string | undefined,
  what: string,
): ApiError {
  if (definition.strategy.markDeleted) {
    const why = `Precondition failed: ${field} in precondition: ${wanted}, ${field} in object meta: ${found}`;
    return conflict(definition, name, why);
  }
  const why = `the ${field} in the precondition (${wanted}) does not match the ${field} in record (${found}). The object might have been ${what}`;
  // The kind stands where the resource does elsewhere, as in the real server.
  // It is found where the object is stored, and named as there: an event of events.k8s.io is one of the core group.
  const group = definition.storage.slice(0, definition.storage.indexOf("/"));
  return conflict({ group, plural: version.kind }, name, why);
}

function deletedStatus({ definition }: Call, { metadata }: WorkingObject): object {
  const { group, plural } = definition;
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: { name: metadata.name, ...(group !== "" && { group }), kind: plural, uid: metadata.uid },
  };
}
