import type { TrainJob } from "./train-job.ts";
import type { RuntimeSpec } from "./training-runtime.ts";

/** The labels or annotations by which a scheduler finds the pods of a group. The runtime's template names the scheduler. */
export function podGroupMarks({ metadata: { name } }: TrainJob, { podGroupPolicy }: RuntimeSpec) {
  if (podGroupPolicy?.volcano) return { annotations: { "scheduling.k8s.io/group-name": name } };
  if (podGroupPolicy?.coscheduling) return { labels: { "scheduling.x-k8s.io/pod-group": name } };
  return {};
}
