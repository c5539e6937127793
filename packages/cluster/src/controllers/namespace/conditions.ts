import { type Clock, timestamp } from "@konverge/core";
import type { NamespaceCondition } from "@konverge/kinds";
import type { Remains } from "./contents.ts";

/** What a namespace that is being deleted says of each step: when it went well, and else why not. */
const STEPS = [
  ["NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"],
  ["NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed"],
  [
    "NamespaceDeletionContentFailure",
    "ContentDeleted",
    "All content successfully deleted, may be waiting on finalization",
  ],
  ["NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"],
  ["NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished"],
] as const;

/** The conditions after an attempt to delete everything. */
export function deletionConditions(
  known: readonly NamespaceCondition[],
  { resources, finalizers, errors }: Remains,
  clock: Clock,
): NamespaceCondition[] {
  const problems: Record<string, { reason: string; message: string } | undefined> = {};
  if (errors.length > 0) {
    const message = `Failed to delete all resource types, ${errors.length} remaining: ${[...errors].sort().join(", ")}`;
    problems["NamespaceDeletionContentFailure"] = { reason: "ContentDeletionFailed", message };
  }
  if (resources.size > 0) {
    const counts = [...resources].sort().map(([resource, count]) => `${resource} has ${count} resource instances`);
    const message = `Some resources are remaining: ${counts.join(", ")}`;
    problems["NamespaceContentRemaining"] = { reason: "SomeResourcesRemain", message };
  }
  if (finalizers.size > 0) {
    const counts = [...finalizers].sort().map(([finalizer, count]) => `${finalizer} in ${count} resource instances`);
    const message = `Some content in the namespace has finalizers remaining: ${counts.join(", ")}`;
    problems["NamespaceFinalizersRemaining"] = { reason: "SomeFinalizersRemain", message };
  }
  const others = known.filter(({ type }) => !STEPS.some(([step]) => step === type));
  const stated = STEPS.map(([type, reason, message]): NamespaceCondition => {
    const bad = problems[type];
    const status = bad ? "True" : "False";
    const before = known.find((condition) => condition.type === type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime! : timestamp(clock);
    return { type, status, lastTransitionTime, ...(bad ?? { reason, message }) };
  });
  return [...others, ...stated];
}
