import { deepEqual, dns1123LabelErrors, maskTrailingDash } from "@konverge/core";
import type {
  CronJob,
  DaemonSet,
  Deployment,
  PodTemplate,
  ReplicaSet,
  StatefulSet,
  Stored,
} from "../../codec/objects.ts";
import type { Strategy } from "../definition.ts";
import { cronJobErrors } from "./job-errors.ts";
import { immutable } from "./pod-spec/checks.ts";
import { podSpecDefaults } from "./pod-spec/defaults.ts";
import { podSpecWarnings } from "./pod-spec/warnings.ts";
import {
  daemonSetErrors,
  deploymentErrors,
  replicaSetErrors,
  statefulSetErrors,
  statefulSetUpdateErrors,
  templateErrors,
} from "./workload-errors.ts";

export const deployment: Strategy = {
  prepareForUpdate({ metadata }: Stored<Deployment>, old: Stored<Deployment>, { subresource }) {
    if (subresource !== "status") return;
    if (old.metadata.labels) metadata.labels = old.metadata.labels;
    else delete metadata.labels;
  },
  resetFields: (subresource) => (subresource === "status" ? ["spec", "metadata.labels"] : ["status"]),
  changesGeneration: (object: Stored<Deployment>, old: Stored<Deployment>) =>
    !deepEqual(object.spec, old.spec) || !deepEqual(object.metadata.annotations ?? {}, old.metadata.annotations ?? {}),
  defaults({ spec }: Stored<Deployment>) {
    podSpecDefaults(spec.template.spec!);
    const { strategy } = spec;
    if (strategy?.type !== "RollingUpdate") return;
    strategy.rollingUpdate = { maxUnavailable: "25%", maxSurge: "25%", ...strategy.rollingUpdate };
  },
  validate: (object: Stored<Deployment>) => deploymentErrors(object),
  validateUpdate: ({ spec }: Stored<Deployment>, old: Stored<Deployment>) =>
    immutable("spec.selector", spec.selector, old.spec.selector),
  warnings: ({ spec }: Stored<Deployment>) => podSpecWarnings(spec.template.spec!, "spec.template.spec"),
  validateStatusUpdate: () => [],
};

export const replicaSet: Strategy = {
  defaults: ({ spec }: Stored<ReplicaSet>) => podSpecDefaults(spec.template!.spec!),
  validate: (object: Stored<ReplicaSet>) => replicaSetErrors(object),
  validateUpdate: ({ spec }: Stored<ReplicaSet>, old: Stored<ReplicaSet>) =>
    immutable("spec.selector", spec.selector, old.spec.selector),
  warnings: ({ spec }: Stored<ReplicaSet>) => podSpecWarnings(spec.template!.spec!, "spec.template.spec"),
  validateStatusUpdate: () => [],
  fields: ({ status }: Stored<ReplicaSet>) => ({ "status.replicas": String(status?.replicas ?? 0) }),
};

/** A count that came before metadata.generation and that only the template moves. */
const TEMPLATE_GENERATION = "deprecated.daemonset.template.generation";

export const daemonSet: Strategy = {
  defaults({ spec, metadata }: Stored<DaemonSet>) {
    podSpecDefaults(spec.template.spec!);
    metadata.annotations = { [TEMPLATE_GENERATION]: "0", ...metadata.annotations };
    const { updateStrategy: strategy } = spec;
    if (strategy?.type !== "RollingUpdate") return;
    strategy.rollingUpdate = { maxUnavailable: 1, maxSurge: 0, ...strategy.rollingUpdate };
  },
  prepareForCreate({ metadata }: Stored<DaemonSet>) {
    metadata.annotations = { ...metadata.annotations, [TEMPLATE_GENERATION]: "1" };
  },
  prepareForUpdate({ metadata, spec }: Stored<DaemonSet>, old: Stored<DaemonSet>) {
    const count = Number(old.metadata.annotations?.[TEMPLATE_GENERATION] ?? 0);
    const changed = !deepEqual(spec.template, old.spec.template);
    metadata.annotations = { ...metadata.annotations, [TEMPLATE_GENERATION]: String(changed ? count + 1 : count) };
  },
  validate: (object: Stored<DaemonSet>) => daemonSetErrors(object),
  validateUpdate: ({ spec }: Stored<DaemonSet>, old: Stored<DaemonSet>) =>
    immutable("spec.selector", spec.selector, old.spec.selector),
  warnings: ({ spec }: Stored<DaemonSet>) => podSpecWarnings(spec.template.spec!, "spec.template.spec"),
  validateStatusUpdate: () => [],
};

export const statefulSet: Strategy = {
  nameErrors: (name, isPrefix) => dns1123LabelErrors(isPrefix ? maskTrailingDash(name) : name),
  defaults({ spec }: Stored<StatefulSet>) {
    podSpecDefaults(spec.template.spec!);
    for (const claim of spec.volumeClaimTemplates ?? []) {
      Object.assign(claim, { kind: "PersistentVolumeClaim", apiVersion: "v1" });
    }
    const { updateStrategy: strategy } = spec;
    if (strategy?.type !== "RollingUpdate") return;
    strategy.rollingUpdate = { partition: 0, ...strategy.rollingUpdate };
  },
  validate: (object: Stored<StatefulSet>) => statefulSetErrors(object),
  validateUpdate: (object: Stored<StatefulSet>, old: Stored<StatefulSet>) => statefulSetUpdateErrors(object, old),
  warnings: ({ spec }: Stored<StatefulSet>) => podSpecWarnings(spec.template.spec!, "spec.template.spec"),
  validateStatusUpdate: () => [],
};

export const podTemplate: Strategy = {
  defaults: ({ template }: Stored<PodTemplate>) => podSpecDefaults(template!.spec!),
  validate: ({ template }: Stored<PodTemplate>) => templateErrors(template, "template"),
};

export const cronJob: Strategy = {
  defaults: ({ spec }: Stored<CronJob>) => podSpecDefaults(spec.jobTemplate.spec!.template.spec!),
  validate: (object: Stored<CronJob>) => cronJobErrors(object),
  validateStatusUpdate: () => [],
};
