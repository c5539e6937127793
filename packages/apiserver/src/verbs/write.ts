import {
  type AnyObject,
  alreadyExists,
  badRequest,
  conflict,
  invalid,
  modified,
  nameSuffix,
  notFound,
  timestamp,
} from "@konverge/core";
import { equalJson } from "@konverge/schema/patch";
import type { Entry } from "../storage/collection.ts";
import { type Call, contentOf, isDryRun, objectOf, storageKey, strategyContext } from "./call.ts";
import { fieldManagerFor, managerName } from "./managed-fields.ts";

/** What a write led to: the stored entry, or with dryRun the object that would have been stored. */
export interface Written {
  readonly object: AnyObject;
  readonly entry?: Entry;
  readonly created: boolean;
}

export interface WriteOptions {
  /** Record the writer as owner of what changes. Apply has done so by itself. */
  ownership?: boolean;
}

/**
 * Creates an object: metadata filled in, admission, strategy, validation, commit. Order as in the real server: mutating
 * admission sees the defaulted object, validation runs on what admission made of it, validating admission comes last.
 */
export async function createObject(
  call: Call,
  given: AnyObject,
  { ownership = true }: WriteOptions = {},
): Promise<Written> {
  const { definition, store, clock } = call;
  fillMetadata(call, given);
  const draft = ownership ? (fieldManagerFor(call).update(undefined, given, managerName(call)) as AnyObject) : given;
  const admitted = (await call.admission.mutate(call, draft, undefined, "CREATE")) ?? draft;
  const object = await toStorage(call, admitted);
  const context = strategyContext(call);
  object.metadata.uid = clock.random.uuid();
  object.metadata.creationTimestamp = timestamp(clock);
  if (definition.strategy.hasGeneration) object.metadata.generation = 1;
  definition.strategy.prepareForCreate?.(object, context);
  const errors = definition.strategy.validate?.(object, context) ?? [];
  if (errors.length > 0)
    throw invalid({ group: definition.group, kind: call.version.kind }, object.metadata.name, errors);
  await call.admission.validate(call, object, undefined, "CREATE");

  const key = storageKey(definition, object.metadata.namespace, object.metadata.name);
  if (store.collection(definition.storage).get(key)) throw alreadyExists(definition, object.metadata.name);
  if (isDryRun(call)) return { object, created: true };
  return { object, entry: store.put(definition.storage, key, contentOf(definition, object)), created: true };
}

/**
 * Changes an object by a function of its current state, which is called again when somebody else wrote meanwhile. A draft
 * that carries a resourceVersion insists on it.
 */
export async function updateObject(
  call: Call,
  change: (old: AnyObject) => AnyObject | Promise<AnyObject>,
  { ownership = true }: WriteOptions = {},
): Promise<Written> {
  const { definition, store } = call;
  const key = storageKey(definition, call.info.namespace, call.info.name);
  for (;;) {
    const entry = store.collection(definition.storage).get(key);
    if (!entry) throw notFound(definition, call.info.name);
    const old = objectOf(entry);
    const [current] = await definition.convert([objectOf(entry)], call.version.version);
    const changed = await change(structuredClone(current!));
    checkPreconditions(call, changed, old);
    const draft = ownership
      ? (fieldManagerFor(call).update(current!, changed, managerName(call)) as AnyObject)
      : changed;
    const admitted = (await call.admission.mutate(call, draft, old, "UPDATE")) ?? draft;
    const object = await toStorage(call, admitted);
    keepServerMetadata(object, old);
    const context = strategyContext(call);
    separateStatus(call, object, old);
    definition.strategy.prepareForUpdate?.(object, old, context);
    if (definition.strategy.hasGeneration) object.metadata.generation = nextGeneration(call, object, old);
    const errors = [
      ...(definition.strategy.validate?.(object, context) ?? []),
      ...(definition.strategy.validateUpdate?.(object, old, context) ?? []),
    ];
    if (errors.length > 0)
      throw invalid({ group: definition.group, kind: call.version.kind }, object.metadata.name, errors);
    await call.admission.validate(call, object, old, "UPDATE");

    if (store.collection(definition.storage).get(key) !== entry) continue;
    if (isDryRun(call) || isUnchanged(object, old)) return { object, entry, created: false };
    const content = contentOf(definition, object);
    const gone =
      object.metadata.deletionTimestamp &&
      !object.metadata.finalizers?.length &&
      !object.metadata.deletionGracePeriodSeconds;
    const written = gone ? store.remove(definition.storage, key, content) : store.put(definition.storage, key, content);
    return { object, entry: written, created: false };
  }
}

async function toStorage(call: Call, object: AnyObject): Promise<AnyObject> {
  const [stored] = await call.definition.convert([object], call.definition.storageVersion);
  return stored!;
}

function fillMetadata(call: Call, object: AnyObject): void {
  const { definition, info } = call;
  object.metadata ??= { name: "" };
  const { metadata } = object;
  if (definition.namespaced) {
    if (metadata.namespace && metadata.namespace !== info.namespace) {
      throw badRequest(`the namespace of the provided object does not match the namespace sent on the request`);
    }
    metadata.namespace = info.namespace;
  } else delete metadata.namespace;
  if (!metadata.name && metadata.generateName)
    metadata.name = metadata.generateName.slice(0, 58) + nameSuffix(call.clock.random);
  delete metadata.selfLink;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  if (metadata.resourceVersion) throw badRequest("resourceVersion should not be set on objects to be created");
}

function checkPreconditions(call: Call, draft: AnyObject, old: AnyObject): void {
  const { definition, info } = call;
  const { uid, resourceVersion } = draft.metadata;
  if (uid && uid !== old.metadata.uid) {
    throw conflict(
      definition,
      info.name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid}`,
    );
  }
  if (!resourceVersion && !definition.strategy.allowUnconditionalUpdate) {
    throw invalid({ group: definition.group, kind: call.version.kind }, info.name, [
      {
        reason: "FieldValueInvalid",
        field: "metadata.resourceVersion",
        message: "Invalid value: 0: must be specified for an update",
      },
    ]);
  }
  if (resourceVersion && resourceVersion !== old.metadata.resourceVersion) throw modified(definition, info.name);
}

/** What only the server may say of an object. */
function keepServerMetadata(object: AnyObject, old: AnyObject): void {
  const metadata = object.metadata;
  metadata.uid = old.metadata.uid;
  metadata.creationTimestamp = old.metadata.creationTimestamp;
  for (const field of ["deletionTimestamp", "deletionGracePeriodSeconds", "generation"] as const) {
    if (old.metadata[field] === undefined) delete metadata[field];
    else metadata[field] = old.metadata[field] as never;
  }
}

/** A status request changes status alone; any other leaves status alone, where the kind has that subresource. */
function separateStatus(call: Call, object: AnyObject, old: AnyObject): void {
  const { strategy } = call.definition;
  const fields = strategy.statusFields ?? (call.version.subresources.has("status") ? ["status"] : []);
  if (call.info.subresource === "status") {
    for (const key of Object.keys(object)) {
      if (!fields.includes(key) && key !== "metadata" && key !== "apiVersion" && key !== "kind")
        assign(object, old, key);
    }
    for (const key of Object.keys(old)) if (!(key in object) && !fields.includes(key)) assign(object, old, key);
    object.metadata = { ...old.metadata, managedFields: object.metadata.managedFields ?? old.metadata.managedFields };
  } else for (const key of fields) assign(object, old, key);
}

function assign(object: AnyObject, old: AnyObject, key: string): void {
  if (old[key] === undefined) delete object[key];
  else object[key] = old[key];
}

function nextGeneration(call: Call, object: AnyObject, old: AnyObject): number {
  const generation = old.metadata.generation ?? 1;
  if (call.info.subresource === "status") return generation;
  const desired = ({ metadata: _, status: __, ...rest }: AnyObject) => JSON.stringify(rest);
  return desired(object) === desired(old) ? generation : generation + 1;
}

function isUnchanged(object: AnyObject, old: AnyObject): boolean {
  const bare = (value: AnyObject) => ({ ...value, metadata: { ...value.metadata, resourceVersion: "" } });
  return equalJson(bare(object), bare(old));
}
