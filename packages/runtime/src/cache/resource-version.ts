/**
 * Negative, zero or positive as version `a` is older than, the same as or newer than `b`. Versions are whole numbers of
 * any length (guaranteed since Kubernetes 1.35, and so in all servers before); a missing one is the oldest.
 */
export function compareVersions(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (!a) return -1;
  if (!b) return 1;
  return a.length - b.length || (a < b ? -1 : 1);
}
