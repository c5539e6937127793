/** Seconds without contact after which a primary stops. */
export const FENCE_SECONDS = 60;
/** Milliseconds that a primary has to notice that, and to end. */
const MARGIN = 15_000;

/** Whether a primary that fences itself after `seconds` without contact has stopped by now. */
export function hasStoppedItself(seconds: number, forsakenFor: number | undefined): boolean {
  return forsakenFor !== undefined && forsakenFor >= Math.max(seconds, FENCE_SECONDS) * 1000 + MARGIN;
}
