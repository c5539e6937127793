import { ApiError, alreadyExists, deepCopy, forbidden, generateName, groupResourceText, invalid } from "@konverge/core";
import { type Call, errorKind, requestVersion, strategyContext, workingVersion } from "../call/call.ts";
import { asStored } from "../call/stored.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import { contentOf, convertTo, objectOf, storageKey } from "../resources/stored-object.ts";
import type { Entry } from "../storage/entry.ts";
import { mutated, recordUpdate } from "./managed-fields.ts";
import { dropDuplicateOwners, fillSystemFields, matchNamespace, metadataErrors, wipeSystemFields } from "./metadata.ts";
import { revisionOf } from "./resource-version.ts";

/** What a write led to: the stored entry, or with dryRun the object that would have been stored. */
export interface Written {
  readonly object: WorkingObject;
  readonly entry?: Entry;
  readonly created: boolean;
}

/** How many names are tried for a generateName. */
const MOST_NAMES = 8;

/**
 * Creates an object that was read from a request, in the version of the request.
 *
 * Order as in the real server: ownership is recorded, mutating admission sees the object with its defaults, the strategy
 * prepares and validates what admission made of it, validating admission comes last.
 */
export async function createObject(call: Call, draft: WorkingObject): Promise<Written> {
  wipeSystemFields(draft.metadata);
  matchNamespace(call, draft.metadata);
  dropDuplicateOwners(call, draft.metadata);
  const owned = await recordUpdate(call, undefined, draft);
  checkNotTerminating(call, owned);
  const admitted = await mutated(call, owned, undefined, "CREATE");
  return storeNew(call, admitted);
}

/** Nothing new comes into a collection that is about to go. */
export function checkNotTerminating({ definition }: Call, { metadata }: WorkingObject): void {
  if (!definition.terminating) return;
  const why = "create not allowed while custom resource definition is terminating";
  throw forbidden(definition, metadata.name ?? "", why);
}

/** The rest of a create, once mutating admission has had its say. */
export async function storeNew(call: Call, admitted: WorkingObject): Promise<Written> {
  dropDuplicateOwners(call, admitted.metadata, { admitted: true });
  const { name, generateName: prefix } = admitted.metadata;
  const isGenerated = !name && !!prefix;
  for (let attempt = 1; ; attempt++) {
    const object = isGenerated ? deepCopy(admitted) : admitted;
    if (isGenerated) object.metadata.name = generateName(prefix, call.clock.random);
    try {
      return await storeOnce(call, object);
    } catch (error) {
      if (!prefix || !(error instanceof ApiError) || error.reason !== "AlreadyExists") throw error;
      if (!isGenerated || attempt === MOST_NAMES) throw noUniqueName(call, object.metadata.name);
    }
  }
}

async function storeOnce(call: Call, admitted: WorkingObject): Promise<Written> {
  const { definition, store } = call;
  fillSystemFields(call, admitted.metadata);
  const object = await convertTo(definition, admitted, workingVersion(call));
  prepare(call, object);
  const created = await convertTo(definition, object, requestVersion(call));
  await call.admission.validate(call, created, undefined, "CREATE");

  const key = storageKey(definition, object.metadata.namespace, object.metadata.name);
  // It is the storage that minds a version, if it can read it. A dry run never gets to it.
  if (!call.dryRun && (revisionOf(object.metadata.resourceVersion ?? "") ?? 0) > 0) throw versionGiven();
  const stored = await asStored(call, object);
  const existing = store.collection(definition.storage).get(key);
  if (existing) throw exists(call, existing);
  if (call.dryRun) return { object, created: true };
  // As from a real storage, which gives defaults when it is read: those of the status, too, which a create begins without.
  if (definition.custom) definition.codecOf!(stored.apiVersion).applyDefaults(stored);
  const entry = store.put(definition.storage, key, contentOf(definition, stored));
  definition.strategy.afterWrite?.(stored, undefined, strategyContext(call));
  return { object: stored, entry, created: true };
}

function prepare(call: Call, object: WorkingObject): void {
  const { definition, version } = call;
  const { strategy } = definition;
  const context = strategyContext(call);
  const ofStatus = strategy.statusFields ?? (version.subresources.has("status") ? ["status"] : []);
  for (const field of strategy.createsStatus ? [] : ofStatus) {
    delete object[field];
  }
  if (strategy.hasGeneration) object.metadata.generation = 1;
  // As in Go: rules read a name that is not there as an empty one. Nothing is stored without a name.
  object.metadata.name ??= "";
  strategy.prepareForCreate?.(object, context);
  const errors = [...metadataErrors(call, object.metadata), ...(strategy.validate?.(object, context) ?? [])];
  if (errors.length > 0) {
    throw invalid(errorKind(call), object.metadata.name ?? "", errors);
  }
  for (const text of strategy.warnings?.(object, context) ?? []) call.warn(text);
  strategy.canonicalize?.(object);
}

function exists({ definition }: Call, entry: Entry): ApiError {
  const { metadata } = objectOf(entry);
  const error = alreadyExists(definition, metadata.name);
  if (metadata.deletionTimestamp === undefined) return error;
  return new ApiError({ ...error.status, message: `object is being deleted: ${error.message}` });
}

function versionGiven(): ApiError {
  return new ApiError({ code: 500, message: "resourceVersion should not be set on objects to be created" });
}

function noUniqueName({ definition }: Call, name: string): ApiError {
  const { group, plural } = definition;
  return new ApiError({
    code: 409,
    reason: "AlreadyExists",
    message: `${groupResourceText(definition)} ${JSON.stringify(name)} already exists, the server was not able to generate a unique name for the object`,
    details: { name, ...(group !== "" && { group }), kind: plural, retryAfterSeconds: 1 },
  });
}
