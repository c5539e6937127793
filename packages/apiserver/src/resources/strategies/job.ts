import { deepEqual } from "@konverge/core";
import type { Job, Stored } from "../../codec/objects.ts";
import type { Strategy } from "../definition.ts";
import { jobErrors, jobUpdateErrors } from "./job-errors.ts";
import { podSpecDefaults } from "./pod-spec/defaults.ts";

const MAX_INT32 = 2 ** 31 - 1;
const LABEL_PREFIX = "batch.kubernetes.io/";

const PODS_STAY =
  "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning";

export const job: Strategy = {
  warningsOnDelete: ({ propagationPolicy, orphanDependents }) =>
    propagationPolicy === undefined && orphanDependents === undefined ? [PODS_STAY] : [],
  presets({ spec }: Stored<Job>) {
    // One pod that must succeed, unless either number is given.
    if (spec && spec.parallelism === undefined && spec.completions === undefined) spec.completions = 1;
  },
  defaults(object: Stored<Job>) {
    const { spec, metadata } = object;
    podSpecDefaults(spec.template.spec!);
    const { labels } = spec.template.metadata ?? {};
    if (labels && Object.keys(labels).length > 0 && Object.keys(metadata.labels ?? {}).length === 0) {
      metadata.labels = { ...labels };
    }
    spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : MAX_INT32;
    spec.podReplacementPolicy ??= spec.podFailurePolicy ? "Failed" : "TerminatingOrFailed";
  },
  prepareForCreate(object: Stored<Job>) {
    if (!object.spec.manualSelector) selectOwnPods(object);
  },
  validate: (object: Stored<Job>) => jobErrors(object),
  validateUpdate: (object: Stored<Job>, old: Stored<Job>) => jobUpdateErrors(object, old),
  validateStatusUpdate: () => [],
  fields: ({ status }: Stored<Job>) => ({ "status.successful": String(status?.succeeded ?? 0) }),
};

/** A job selects the pods that carry its uid, and has its template give it to them. */
function selectOwnPods({ spec, metadata }: Job): void {
  const uid = metadata.uid!;
  const { template } = spec;
  const labels = {
    ...template.metadata?.labels,
    "controller-uid": uid,
    "job-name": metadata.name,
    [`${LABEL_PREFIX}controller-uid`]: uid,
    [`${LABEL_PREFIX}job-name`]: metadata.name,
  };
  // A job without labels has those of its template, these included.
  if (deepEqual(metadata.labels ?? {}, template.metadata?.labels ?? {})) metadata.labels = { ...labels };
  template.metadata = { ...template.metadata, labels };
  const matchLabels = { [`${LABEL_PREFIX}controller-uid`]: uid, ...spec.selector?.matchLabels };
  spec.selector = { ...spec.selector, matchLabels };
}
