import { type AnyObject, type ApiResponse, conflict, notFound, timestamp } from "@konverge/core";
import { type Call, contentOf, currentEntry, isDryRun, objectOf, storageKey } from "./call.ts";
import { entryResponse, jsonResponse, objectResponse } from "./finish.ts";

/** The body of a delete request. */
export interface DeleteOptions {
  gracePeriodSeconds?: number;
  propagationPolicy?: "Orphan" | "Background" | "Foreground";
  preconditions?: { uid?: string; resourceVersion?: string };
}

/**
 * Deletes an object, or marks it when finalizers (or a grace period) hold it: the deletion then ends with the update that
 * removes the last finalizer.
 */
export async function deleteObject(call: Call, options: DeleteOptions): Promise<ApiResponse> {
  const { definition, store } = call;
  const key = storageKey(definition, call.info.namespace, call.info.name);
  for (;;) {
    const entry = currentEntry(call);
    if (!entry) throw notFound(definition, call.info.name);
    const object = objectOf(entry);
    checkPreconditions(call, object, options);
    await call.admission.validate(call, undefined, object, "DELETE");
    if (currentEntry(call) !== entry) continue;

    const finalizers = finalizersFor(object, options);
    const grace = definition.strategy.gracePeriod?.(object, options.gracePeriodSeconds) ?? 0;
    if (finalizers.length > 0) object.metadata.finalizers = finalizers;
    else delete object.metadata.finalizers;
    const held = finalizers.length > 0 || grace > 0;
    if (isDryRun(call)) return objectResponse(call, object);
    if (!held) {
      store.remove(definition.storage, key, contentOf(definition, object));
      await store.durable();
      return deletedStatus(call, object);
    }
    if (object.metadata.deletionTimestamp) return entryResponse(call, entry);
    object.metadata.deletionTimestamp = timestamp(call.clock);
    object.metadata.deletionGracePeriodSeconds = grace;
    if (object.metadata.generation) object.metadata.generation += 1;
    return entryResponse(call, store.put(definition.storage, key, contentOf(definition, object)));
  }
}

function finalizersFor(object: AnyObject, options: DeleteOptions): string[] {
  const wanted = new Set(object.metadata.finalizers ?? []);
  if (options.propagationPolicy !== undefined) {
    wanted.delete("orphan");
    wanted.delete("foregroundDeletion");
    if (options.propagationPolicy === "Orphan") wanted.add("orphan");
    if (options.propagationPolicy === "Foreground") wanted.add("foregroundDeletion");
  }
  return [...wanted];
}

function checkPreconditions(call: Call, object: AnyObject, { preconditions }: DeleteOptions): void {
  const { uid, resourceVersion } = object.metadata;
  const fail = (what: string, wanted: string, is: string | undefined) =>
    conflict(
      call.definition,
      call.info.name,
      `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${is}`,
    );
  if (preconditions?.uid && preconditions.uid !== uid) throw fail("UID", preconditions.uid, uid);
  if (preconditions?.resourceVersion && preconditions.resourceVersion !== resourceVersion) {
    throw fail("ResourceVersion", preconditions.resourceVersion, resourceVersion);
  }
}

function deletedStatus(call: Call, object: AnyObject): ApiResponse {
  const { group, plural } = call.definition;
  return jsonResponse(200, {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: { name: object.metadata.name, ...(group !== "" && { group }), kind: plural, uid: object.metadata.uid },
  });
}
