import { type Clock, type KubeObject, keyOf, readinessOf, splitKey } from "@konverge/core";
import { PAUSED_ANNOTATION } from "@konverge/runtime";
import type { Examined } from "./examined-objects.ts";
import { type Finding, nameOf } from "./finding.ts";

/** How long a deletion may take before finalizers count as stuck, in milliseconds. */
const DELETION_GRACE = 60_000;

/** Objects that are to be deleted, and the finalizers that keep them, with who has set these. */
export function finalizerFindings({ objects }: Examined, clock: Clock): Finding[] {
  return objects.flatMap((object) => {
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    // A namespace is held by what is in it, too.
    const held = [...finalizers, ...((object as { spec?: { finalizers?: string[] } }).spec?.finalizers ?? [])];
    if (!deletionTimestamp || held.length === 0) return [];
    const since = clock.now() - Date.parse(String(deletionTimestamp));
    if (since < DELETION_GRACE) return [];
    return held.map((finalizer) => {
      const holder = holderOf(object, finalizer);
      const who = holder === undefined ? "" : `, which ${holder} has set`;
      const start = holder === undefined ? "start the controller that sets it" : `start ${holder}, and read its log`;
      return {
        check: "finalizers" as const,
        object: nameOf(object),
        problem: `it has been waiting to be deleted for ${Math.round(since / 1000)} s, for the finalizer ${finalizer}${who}`,
        fix: `${upperFirst(start)}; only if that controller is gone for good, remove the finalizer by hand, which leaves behind what it would have cleaned up: kubectl edit ${resourceText(object)}`,
      };
    });
  });
}

/** The manager that owns a finalizer. */
function holderOf({ metadata }: KubeObject, finalizer: string): string | undefined {
  const key = `v:${JSON.stringify(finalizer)}`;
  const owner = metadata.managedFields?.find(({ fieldsV1 }) => {
    const fields = fieldsV1 as { "f:metadata"?: { "f:finalizers"?: Record<string, unknown> } } | undefined;
    return fields?.["f:metadata"]?.["f:finalizers"]?.[key] !== undefined;
  });
  return owner?.manager;
}

/** Objects of custom kinds that are not ready, with what of theirs is not. */
export function readinessFindings({ objects, custom }: Examined, clock: Clock): Finding[] {
  const unready = new Map<string, { object: KubeObject; message: string; reason: string }>();
  for (const object of objects) {
    const { status, message, reason } = readinessOf(object, clock.now());
    if (status === "InProgress" || status === "Failed")
      unready.set(object.metadata.uid ?? "", { object, message, reason });
  }
  return [...unready.values()].flatMap(({ object, message, reason }) => {
    const { uid = "", ownerReferences = [] } = object.metadata;
    const isChild = ownerReferences.some((owner) => objects.some(({ metadata }) => metadata.uid === owner.uid));
    if (!custom.has(uid) && !isChild) return [];
    const children = [...unready.values()].filter(({ object: one }) =>
      one.metadata.ownerReferences?.some((owner) => owner.uid === uid),
    );
    const fix =
      reason === "LatestGenerationNotObserved" && custom.has(uid)
        ? "Check that its operator runs, and read its log: it has not reconciled the latest change."
        : children.length > 0
          ? `Look at ${children.map((child) => nameOf(child.object)).join(", ")}, which it waits for.`
          : `Read its conditions and events: kubectl describe ${resourceText(object)}`;
    return [{ check: "readiness" as const, object: nameOf(object), problem: `it is not ready: ${message}`, fix }];
  });
}

/** Objects that their operator ignores. */
export function pausedFindings({ objects }: Examined): Finding[] {
  return objects
    .filter(({ metadata }) => metadata.annotations?.[PAUSED_ANNOTATION] === "true")
    .map((object) => ({
      check: "paused" as const,
      object: nameOf(object),
      problem: `it is paused by the annotation ${PAUSED_ANNOTATION}, so that nothing is reconciled`,
      fix: `Remove the annotation: kubectl annotate ${resourceText(object)} ${PAUSED_ANNOTATION}-`,
    }));
}

/** An object as kubectl takes it: `trainingjob llama --namespace default`. */
export function resourceText(object: KubeObject): string {
  const { name, namespace } = splitKey(keyOf(object));
  return `${(object.kind ?? "").toLowerCase()} ${name}${namespace ? ` --namespace ${namespace}` : ""}`;
}

const upperFirst = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
