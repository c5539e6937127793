/**
 * Negative, zero or positive as resourceVersion `a` is older than, the same as or newer than `b`. They are whole numbers
 * of any length without leading zeros (guaranteed since Kubernetes 1.35, true of every server before); a missing one is
 * the oldest.
 */
export function compareVersions(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (!a) return b ? -1 : 0;
  if (!b) return 1;
  return a.length - b.length || (a < b ? -1 : 1);
}
