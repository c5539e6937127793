import type { Affinity, PersistentVolumeClaim } from "@konverge/kinds";

/** Which pods can use the volume of a claim at the same time: those of any nodes, those of one node, or a single pod. */
export type ClaimSharing = "any-node" | "one-node" | "one-pod";

/** How far the access modes of a claim let pods share its volume. */
export function claimSharing({ spec }: Pick<PersistentVolumeClaim, "spec">): ClaimSharing {
  const modes = spec?.accessModes ?? [];
  if (modes.some((mode) => mode === "ReadWriteMany" || mode === "ReadOnlyMany")) return "any-node";
  return modes.includes("ReadWriteOncePod") ? "one-pod" : "one-node";
}

/**
 * Keeps pods with these labels on one node, so that they can share a volume that is attached to one node at a time. The
 * first pod can run anywhere: an affinity to itself holds nothing up.
 */
export function sameNodeAffinity(matchLabels: Readonly<Record<string, string>>): Affinity {
  const term = { labelSelector: { matchLabels: { ...matchLabels } }, topologyKey: "kubernetes.io/hostname" };
  return { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
}
