/** What Ray's kinds have in common: the group, and two versions of the same shape, of which v1 is stored. */
export const rayKind = <const K extends string, S>(kind: K, shape: S) => ({
  group: "ray.io",
  kind,
  categories: ["all"],
  stored: "v1" as const,
  versions: { v1: shape, v1alpha1: shape },
});
