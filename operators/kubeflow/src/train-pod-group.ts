import { TypedKind } from "konverge";
import { parseQuantity, Quantity } from "konverge/objects";
import { PLUGIN_GROUPS, type PodGroup, VOLCANO_GROUPS } from "./gang-scheduler.ts";
import type { TrainJob } from "./train-job.ts";
import type { Step } from "./train-plan.ts";
import { ownLabels } from "./train-pods.ts";
import type { RuntimeSpec } from "./training-runtime.ts";

/** PodGroups that a runtime asks for. Neither kind need be installed. */
export const VolcanoPodGroup = new TypedKind<PodGroup>(VOLCANO_GROUPS);
export const PluginPodGroup = new TypedKind<PodGroup>(PLUGIN_GROUPS);

/** The kind of PodGroup that a runtime asks for; undefined without a policy. */
export function podGroupKind({ podGroupPolicy }: RuntimeSpec): TypedKind<PodGroup> | undefined {
  if (podGroupPolicy?.volcano) return VolcanoPodGroup;
  return podGroupPolicy?.coscheduling ? PluginPodGroup : undefined;
}

const QUEUE = "scheduling.volcano.sh/queue-name";

/** All pods of a job are placed, or none. */
export function podGroupsFor(job: TrainJob, runtime: RuntimeSpec, steps: readonly Step[]) {
  const kind = podGroupKind(runtime);
  if (!kind) return [];
  const { volcano, coscheduling } = runtime.podGroupPolicy!;
  const templates = steps.flatMap(({ jobs }) =>
    jobs.map(({ spec }) => ({ count: spec!.parallelism ?? 1, pod: spec!.template.spec })),
  );
  const total = new Map<string, Quantity>();
  for (const { count, pod } of templates)
    for (const { resources } of pod?.containers ?? [])
      for (const [name, amount] of Object.entries(resources?.requests ?? resources?.limits ?? {})) {
        const one = parseQuantity(String(amount));
        for (let i = 0; i < count; i++) total.set(name, (total.get(name) ?? Quantity.of(0)).add(one));
      }
  const queue = job.metadata.annotations?.[QUEUE] ?? runtime.template.metadata?.annotations?.[QUEUE];
  const priorities = templates.flatMap(({ pod }) => pod?.priorityClassName ?? []);
  return [
    kind.draft({
      metadata: { name: job.metadata.name, namespace: job.metadata.namespace!, labels: ownLabels(job) },
      spec: {
        minMember: templates.reduce((sum, { count }) => sum + count, 0),
        minResources: Object.fromEntries([...total].map(([name, amount]) => [name, amount.toString()])),
        ...(coscheduling && { scheduleTimeoutSeconds: coscheduling.scheduleTimeoutSeconds }),
        ...(volcano && queue && { queue }),
        ...(volcano && priorities.length > 0 && { priorityClassName: priorities.at(-1) }),
        ...(volcano?.networkTopology && { networkTopology: volcano.networkTopology }),
      },
    }),
  ];
}
