import type { Client } from "@konverge/client";
import { isNotFound, type KubeObject } from "@konverge/core";
import type { ServedKinds } from "../parts/served-kinds.ts";
import type { PodInfo } from "./pod-info.ts";

interface PodGroup extends KubeObject {
  spec?: { minMember?: number; schedulingPolicy?: { gang?: { minCount?: number } } };
}

/** The API groups whose PodGroups are understood: Kubernetes' own, and that of its scheduler plugins. */
const GROUPS = ["scheduling.k8s.io", "scheduling.x-k8s.io"];

/** How many pods of a group must find a place together; undefined while its PodGroup is not there. */
export async function membersNeeded(client: Client, kinds: ServedKinds, pod: PodInfo): Promise<number | undefined> {
  for (const group of GROUPS) {
    const kind = kinds.byName(group, "PodGroup");
    if (!kind) continue;
    try {
      const { spec } = (await client.get(kind, `${pod.namespace}/${pod.group}`)) as PodGroup;
      return spec?.minMember ?? spec?.schedulingPolicy?.gang?.minCount ?? 1;
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return undefined;
}
