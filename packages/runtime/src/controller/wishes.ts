import type { KubeObject } from "@konverge/core";
import type { CacheChange } from "../cache/change.ts";

/** An annotation that pauses an object, with the value `true`: no reconcile and no cleanup. */
export const PAUSED_ANNOTATION = "konverge.dev/paused";

/**
 * The annotation that requests a reconcile now, with priority. Every change of its value counts: `kubectl annotate model llama konverge.dev/reconcile-now="$(date)" --overwrite`.
 */
export const RECONCILE_NOW_ANNOTATION = "konverge.dev/reconcile-now";

/** Whether an object is paused by its annotation. */
export function isPaused({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[PAUSED_ANNOTATION] === "true";
}

/** A change by which a user tells the controller what to do. */
export function isWish({ type, object, before }: CacheChange): boolean {
  if (type !== "changed" || !before) return false;
  const changed = (name: string) => object.metadata.annotations?.[name] !== before.metadata.annotations?.[name];
  return changed(PAUSED_ANNOTATION) || changed(RECONCILE_NOW_ANNOTATION);
}
