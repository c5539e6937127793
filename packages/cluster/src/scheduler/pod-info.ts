import {
  type LabelRequirement,
  type LabelSelector,
  matchesLabels,
  type ObjectKey,
  own,
  requirementsOf,
} from "@konverge/core";
import type { NodeAffinity, Pod, PodAffinityTerm, Toleration, TopologySpreadConstraint } from "@konverge/kinds";
import { ephemeralClaimName } from "../controllers/volume/ephemeral-volumes.ts";
import { hostPortsOf } from "./host-ports.ts";
import { type Amounts, requestsOf } from "./requests.ts";

/** A term of affinity to other pods, ready to be matched. */
export interface PodTerm {
  readonly topologyKey: string;
  readonly weight: number;
  matches(pod: PodInfo): boolean;
}

/** A topology spread constraint, ready to be counted. */
export interface SpreadTerm {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly isRequired: boolean;
  readonly honorsAffinity: boolean;
  readonly honorsTaints: boolean;
  matches(pod: PodInfo): boolean;
}

/** The scheduler's view of a pod: everything that is used repeatedly, parsed once. */
export interface PodInfo {
  readonly key: ObjectKey;
  readonly uid: string;
  /** Counts the changes of its scheduling requirements. */
  readonly generation: number;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly priority: number;
  readonly created: string;
  readonly startTime: string;
  readonly nodeName: string;
  readonly nominated: string;
  readonly terminating: boolean;
  readonly preempts: boolean;
  readonly requests: Amounts;
  readonly nodeSelector: Readonly<Record<string, string>> | undefined;
  readonly nodeAffinity: NodeAffinity | undefined;
  readonly tolerations: readonly Toleration[];
  readonly affinity: readonly PodTerm[];
  readonly antiAffinity: readonly PodTerm[];
  readonly preferred: readonly PodTerm[];
  readonly spread: readonly SpreadTerm[];
  /** `TCP/8080`, with the address if it is a particular one. */
  readonly hostPorts: readonly string[];
  readonly claims: readonly string[];
  /** Those of its claims that are created for it. */
  readonly ephemeralClaims: readonly string[];
  /** The names of its ResourceClaims; empty: one that is not created yet. */
  readonly deviceClaims: readonly string[];
  readonly owner: string;
  readonly group: string;
}

const NONE: readonly never[] = [];

/** Reads a pod. */
export function podInfo(pod: Pod, namespaceLabels: (namespace: string) => Readonly<Record<string, string>>): PodInfo {
  const { metadata, spec, status } = pod;
  const { name, namespace = "", labels = {} } = metadata;
  const { podAffinity, podAntiAffinity, nodeAffinity } = spec?.affinity ?? {};
  const required = (terms: readonly PodAffinityTerm[] | undefined) =>
    terms?.map((term) => podTerm(term, 0, namespace, labels, namespaceLabels)) ?? NONE;
  const weighted = (terms: readonly { weight: number; podAffinityTerm: PodAffinityTerm }[] | undefined, sign: number) =>
    terms?.map(({ weight, podAffinityTerm }) =>
      podTerm(podAffinityTerm, sign * weight, namespace, labels, namespaceLabels),
    ) ?? NONE;
  return {
    key: `${namespace}/${name}`,
    uid: metadata.uid ?? "",
    generation: metadata.generation ?? 0,
    namespace,
    name,
    labels,
    priority: spec?.priority ?? 0,
    created: metadata.creationTimestamp ?? "",
    startTime: status?.startTime ?? "",
    nodeName: spec?.nodeName ?? "",
    nominated: status?.nominatedNodeName ?? "",
    terminating: metadata.deletionTimestamp !== undefined,
    preempts: spec?.preemptionPolicy !== "Never",
    requests: requestsOf(pod),
    nodeSelector: spec?.nodeSelector,
    nodeAffinity,
    tolerations: spec?.tolerations ?? NONE,
    affinity: required(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    antiAffinity: required(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    preferred: [
      ...weighted(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution, 1),
      ...weighted(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution, -1),
    ],
    spread: spec?.topologySpreadConstraints?.map((one) => spreadTerm(one, namespace, labels)) ?? NONE,
    hostPorts: hostPortsOf(pod),
    claims:
      spec?.volumes?.flatMap((volume) =>
        volume.persistentVolumeClaim
          ? [volume.persistentVolumeClaim.claimName]
          : volume.ephemeral
            ? [ephemeralClaimName(pod, volume)]
            : [],
      ) ?? NONE,
    ephemeralClaims:
      spec?.volumes?.flatMap((volume) => (volume.ephemeral ? [ephemeralClaimName(pod, volume)] : [])) ?? NONE,
    deviceClaims:
      spec?.resourceClaims?.flatMap(({ name: own, resourceClaimName }) => {
        if (resourceClaimName) return [resourceClaimName];
        const known = status?.resourceClaimStatuses?.find((one) => one.name === own);
        // Noted without a claim: none is needed.
        return known && !known.resourceClaimName ? [] : [known?.resourceClaimName ?? ""];
      }) ?? NONE,
    owner: metadata.ownerReferences?.find(({ controller }) => controller)?.uid ?? "",
    group: spec?.schedulingGroup?.podGroupName ?? labels["scheduling.x-k8s.io/pod-group"] ?? "",
  };
}

function podTerm(
  term: PodAffinityTerm,
  weight: number,
  namespace: string,
  labels: Readonly<Record<string, string>>,
  namespaceLabels: (namespace: string) => Readonly<Record<string, string>>,
): PodTerm {
  const selects = selectorOf(term.labelSelector, labels, term.matchLabelKeys, term.mismatchLabelKeys);
  const namespaces = new Set(term.namespaces);
  const inNamespace = term.namespaceSelector && requirementsOf(term.namespaceSelector as never);
  if (namespaces.size === 0 && !inNamespace) namespaces.add(namespace);
  return {
    topologyKey: term.topologyKey,
    weight,
    matches: (pod) =>
      (namespaces.has(pod.namespace) ||
        (inNamespace !== undefined && matchesLabels(inNamespace, namespaceLabels(pod.namespace)))) &&
      selects(pod.labels),
  };
}

function spreadTerm(
  one: TopologySpreadConstraint,
  namespace: string,
  labels: Readonly<Record<string, string>>,
): SpreadTerm {
  const selects = selectorOf(one.labelSelector, labels, one.matchLabelKeys, undefined);
  return {
    topologyKey: one.topologyKey,
    maxSkew: one.maxSkew,
    minDomains: one.minDomains ?? 1,
    isRequired: one.whenUnsatisfiable === "DoNotSchedule",
    honorsAffinity: one.nodeAffinityPolicy !== "Ignore",
    honorsTaints: one.nodeTaintsPolicy === "Honor",
    matches: (pod) => pod.namespace === namespace && !pod.terminating && selects(pod.labels),
  };
}

/** No selector selects nothing; an empty one everything. */
function selectorOf(
  selector: LabelSelector | undefined,
  labels: Readonly<Record<string, string>>,
  same: readonly string[] = [],
  different: readonly string[] = [],
): (labels: Readonly<Record<string, string>>) => boolean {
  if (!selector) return () => false;
  const requirements: LabelRequirement[] = requirementsOf(selector as never);
  return (others) =>
    matchesLabels(requirements, others) &&
    same.every((key) => own(labels, key) === undefined || own(others, key) === labels[key]) &&
    different.every((key) => own(labels, key) === undefined || own(others, key) !== labels[key]);
}
