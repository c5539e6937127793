import type { KubeObject } from "@konverge/core";
import type { PersistentVolumeClaim, Pod } from "../codec/objects.ts";
import { podAmounts } from "../resources/strategies/pod-spec/resource-lists.ts";

interface Requirement {
  readonly scopeName: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** The scopes of a quota. */
interface Scoped {
  readonly spec?: {
    readonly scopes?: readonly string[];
    readonly scopeSelector?: { readonly matchExpressions?: readonly Requirement[] };
  };
}

/** Whether a quota counts an object. Scopes select pods and claims: with any, it counts no other objects. */
export function isInQuotaScope({ spec }: Scoped, resource: string, object: KubeObject): boolean {
  const requirements: Requirement[] = [
    ...(spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: "Exists" })),
    ...(spec?.scopeSelector?.matchExpressions ?? []),
  ];
  return requirements.every((requirement) => {
    if (resource === "pods") return podMatches(requirement, object as unknown as Pod);
    const isOfClaims = requirement.scopeName === "VolumeAttributesClass" && resource === "persistentvolumeclaims";
    return (
      isOfClaims && selects(requirement, (object as unknown as PersistentVolumeClaim).spec?.volumeAttributesClassName)
    );
  });
}

function podMatches(requirement: Requirement, { spec }: Pod): boolean {
  const isBestEffort = podAmounts(spec, "requests").size === 0 && podAmounts(spec, "limits").size === 0;
  switch (requirement.scopeName) {
    case "Terminating":
      return isTerminating(spec);
    case "NotTerminating":
      return !isTerminating(spec);
    case "BestEffort":
      return isBestEffort;
    case "NotBestEffort":
      return !isBestEffort;
    case "PriorityClass":
      return selects(requirement, spec.priorityClassName);
    case "CrossNamespacePodAffinity":
      return crossesNamespaces(spec);
    default:
      return false;
  }
}

/** Whether a pod is one that runs to completion. */
export function isTerminating(spec: Pod["spec"]): boolean {
  return spec.activeDeadlineSeconds !== undefined && spec.activeDeadlineSeconds >= 0;
}

function selects({ operator, values = [] }: Requirement, value: string | undefined): boolean {
  const isThere = value !== undefined && value !== "";
  if (operator === "Exists") return isThere;
  if (operator === "DoesNotExist") return !isThere;
  const isOne = isThere && values.includes(value);
  return operator === "In" ? isOne : !isOne;
}

interface Term {
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: object;
}

function crossesNamespaces({ affinity }: Pod["spec"]): boolean {
  const crosses = (term: Term) => (term.namespaces?.length ?? 0) > 0 || term.namespaceSelector !== undefined;
  return [affinity?.podAffinity, affinity?.podAntiAffinity].some(
    (one) =>
      one?.requiredDuringSchedulingIgnoredDuringExecution?.some(crosses) ||
      one?.preferredDuringSchedulingIgnoredDuringExecution?.some(({ podAffinityTerm }) => crosses(podAffinityTerm)),
  );
}
