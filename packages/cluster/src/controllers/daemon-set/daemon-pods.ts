import { DaemonSet, type Pod, type PodTemplateSpec } from "@konverge/kinds";
import { podFromTemplate } from "../workloads/pod-control.ts";
import { daemonTolerations } from "./node-fit.ts";

export const HASH_LABEL = "controller-revision-hash";
const NODE_NAME = "metadata.name";

/** A daemon's pod for one node: the scheduler may put it nowhere else. */
export function daemonPod(set: DaemonSet, node: string, hash: string) {
  const { template } = set.spec!;
  const { metadata, spec } = template;
  const affinity = spec!.affinity?.nodeAffinity;
  const matchFields = [{ key: NODE_NAME, operator: "In" as const, values: [node] }];
  const required = {
    ...affinity?.requiredDuringSchedulingIgnoredDuringExecution,
    // Where a pod says which nodes it wants, they have been judged already: this one is all that counts.
    nodeSelectorTerms: [{ matchFields }],
  };
  const placed: PodTemplateSpec = {
    metadata: { ...metadata, labels: { ...metadata?.labels, [HASH_LABEL]: hash } },
    spec: {
      ...spec!,
      tolerations: daemonTolerations(spec!),
      affinity: {
        ...spec!.affinity,
        nodeAffinity: { ...affinity, requiredDuringSchedulingIgnoredDuringExecution: required },
      },
    },
  };
  return podFromTemplate(DaemonSet, set, placed);
}

/** The node that a daemon's pod is on, or is meant for. */
export function nodeOf({ spec }: Pod): string | undefined {
  if (spec?.nodeName) return spec.nodeName;
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  for (const { matchFields = [] } of terms ?? []) {
    for (const { key, operator, values } of matchFields) {
      if (key === NODE_NAME && operator === "In" && values?.length === 1) return values[0];
    }
  }
  return undefined;
}

export const hashOf = ({ metadata }: Pod): string | undefined => metadata.labels?.[HASH_LABEL];
