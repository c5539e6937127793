import { ownerReference } from "@konverge/core";
import { type Pod, type PodTemplateSpec, StatefulSet } from "@konverge/kinds";

export const REVISION_LABEL = "controller-revision-hash";
const POD_NAME = "statefulset.kubernetes.io/pod-name";
const POD_INDEX = "apps.kubernetes.io/pod-index";

/** The settings in the spec of a StatefulSet, with all defaults. */
export function settingsOf({ spec }: StatefulSet) {
  const { replicas = 1, minReadySeconds = 0, updateStrategy, ordinals } = spec ?? {};
  const start = ordinals?.start ?? 0;
  return {
    replicas,
    minReadySeconds,
    start,
    isOrdered: spec?.podManagementPolicy !== "Parallel",
    isOnDelete: updateStrategy?.type === "OnDelete",
    partition: updateStrategy?.rollingUpdate?.partition,
    claims: spec?.volumeClaimTemplates ?? [],
    retention: spec?.persistentVolumeClaimRetentionPolicy ?? {},
  };
}

/** The ordinal of a pod; undefined if its name does not have the form of the set. */
export function ordinalOf({ metadata }: StatefulSet, pod: Pod): number | undefined {
  const match = /^(.*)-(\d+)$/.exec(pod.metadata.name);
  return match?.[1] === metadata.name ? Number(match[2]) : undefined;
}

export function isInRange(set: StatefulSet, ordinal: number): boolean {
  const { start, replicas } = settingsOf(set);
  return ordinal >= start && ordinal < start + replicas;
}

export const revisionOf = ({ metadata }: Pod): string | undefined => metadata.labels?.[REVISION_LABEL];

export const claimName = (template: string, set: StatefulSet, ordinal: number): string =>
  `${template}-${set.metadata.name}-${ordinal}`;

/** The pod of a number, made from the template of a revision. */
export function podFor(set: StatefulSet, template: PodTemplateSpec, revision: string, ordinal: number) {
  const name = `${set.metadata.name}-${ordinal}`;
  const { metadata = {}, spec } = template;
  const claims = settingsOf(set).claims.map(({ metadata: claim }) => claim!.name!);
  const volumes = [
    ...claims.map((claim) => ({
      name: claim,
      persistentVolumeClaim: { claimName: claimName(claim, set, ordinal), readOnly: false },
    })),
    ...(spec?.volumes ?? []).filter((volume) => !claims.includes(volume.name)),
  ];
  const labels = {
    ...metadata.labels,
    [POD_NAME]: name,
    [POD_INDEX]: String(ordinal),
    [REVISION_LABEL]: revision,
  };
  return {
    metadata: {
      name,
      generateName: `${set.metadata.name}-`,
      namespace: set.metadata.namespace!,
      labels,
      ...(metadata.annotations && { annotations: metadata.annotations }),
      ...(metadata.finalizers && { finalizers: metadata.finalizers }),
      ownerReferences: [ownerReference(StatefulSet, set)],
    },
    spec: {
      ...spec!,
      hostname: name,
      ...(set.spec?.serviceName && { subdomain: set.spec.serviceName }),
      ...(volumes.length > 0 && { volumes }),
    },
  };
}

/** Whether a pod has the labels of its name and ordinal. */
export function hasIdentity(set: StatefulSet, pod: Pod): boolean {
  const ordinal = ordinalOf(set, pod);
  const { labels } = pod.metadata;
  return labels?.[POD_NAME] === pod.metadata.name && labels[POD_INDEX] === String(ordinal);
}

/** The labels that {@link hasIdentity} requires. */
export function identityLabels(set: StatefulSet, pod: Pod): Record<string, string> {
  return { [POD_NAME]: pod.metadata.name, [POD_INDEX]: String(ordinalOf(set, pod)) };
}
