import { type AnyObject, type KindRef, ownerReference } from "konverge";
import { parseQuantity, Quantity } from "konverge/objects";
import type { Framework } from "./framework.ts";
import { type Job, type Replica, sizeOf } from "./job.ts";

/** A PodGroup of any of the schedulers that have them. */
export interface PodGroup extends AnyObject {
  spec: { minMember: number } & Record<string, unknown>;
  status?: { phase?: string };
}

/** What a pod carries so that its scheduler knows which group it belongs to. */
export interface GangMarks {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly schedulerName: string;
}

/** A scheduler that places all pods of a job or none, and how pods are grouped for it. */
export interface GangScheduler {
  readonly kind: KindRef<PodGroup>;
  readonly schedulerName: string;
  podGroup(job: Job, framework: Pick<Framework, "kind">): PodGroup;
  marks(job: Job, replica: Replica): GangMarks;
  /** Whether pods may be made now: some schedulers want to admit the group first. */
  isAdmitted(group: PodGroup): boolean;
}

const podGroups = (group: string, version: string): KindRef<PodGroup> => ({
  group,
  version,
  kind: "PodGroup",
  plural: "podgroups",
  namespaced: true,
});

export const VOLCANO_GROUPS = podGroups("scheduling.volcano.sh", "v1beta1");
export const PLUGIN_GROUPS = podGroups("scheduling.x-k8s.io", "v1alpha1");

/**
 * The gang scheduler of that name: `volcano`, or any other that reads the PodGroups of Kubernetes' scheduler plugins.
 * Undefined for `none`.
 */
export function gangScheduler(name: string): GangScheduler | undefined {
  if (name === "" || name === "none") return undefined;
  return name.toLowerCase() === "volcano" ? volcano : schedulerPlugins(name);
}

const volcano: GangScheduler = {
  kind: VOLCANO_GROUPS,
  schedulerName: "volcano",
  podGroup(job, framework) {
    const { queue = "default", priorityClass } = job.runPolicy.schedulingPolicy ?? {};
    return groupOf(job, framework, "scheduling.volcano.sh/v1beta1", {
      queue: queue || "default",
      ...(priorityClass && { priorityClassName: priorityClass }),
    });
  },
  marks: ({ name }, { type }) => ({
    annotations: { "scheduling.k8s.io/group-name": name, "volcano.sh/task-spec": type.toLowerCase() },
    schedulerName: "volcano",
  }),
  isAdmitted: ({ status }) => !!status?.phase && status.phase !== "Pending",
};

const schedulerPlugins = (schedulerName: string): GangScheduler => ({
  kind: PLUGIN_GROUPS,
  schedulerName,
  podGroup(job, framework) {
    const { scheduleTimeoutSeconds } = job.runPolicy.schedulingPolicy ?? {};
    const more = scheduleTimeoutSeconds === undefined ? {} : { scheduleTimeoutSeconds };
    return groupOf(job, framework, "scheduling.x-k8s.io/v1alpha1", more);
  },
  marks: ({ name }) => ({ labels: { "scheduling.x-k8s.io/pod-group": name }, schedulerName }),
  isAdmitted: () => true,
});

function groupOf(
  job: Job,
  { kind }: Pick<Framework, "kind">,
  apiVersion: string,
  more: Record<string, unknown>,
): PodGroup {
  const { name, namespace, object, runPolicy } = job;
  const { minAvailable, minResources } = runPolicy.schedulingPolicy ?? {};
  const minMember = minAvailable ?? sizeOf(job);
  const { annotations } = object.metadata;
  return {
    apiVersion,
    kind: "PodGroup",
    metadata: {
      name,
      namespace,
      ...(annotations && { annotations }),
      ownerReferences: [ownerReference(kind, object)],
    },
    spec: { minMember, minResources: minResources ?? resourcesOf(job, minMember), ...more },
  };
}

/** The total requests of the first `members` pods; limits count for containers without requests. */
function resourcesOf({ replicas }: Job, members: number): Record<string, string> {
  const total = new Map<string, Quantity>();
  const pods = replicas.flatMap(({ count, template }) => Array.from({ length: count }, () => template));
  for (const { spec } of pods.slice(0, members)) {
    for (const { resources } of spec?.containers ?? []) {
      for (const [name, amount] of Object.entries(resources?.requests ?? resources?.limits ?? {})) {
        total.set(name, (total.get(name) ?? Quantity.of(0)).add(parseQuantity(String(amount))));
      }
    }
  }
  return Object.fromEntries([...total].map(([name, amount]) => [name, amount.toString()]));
}
