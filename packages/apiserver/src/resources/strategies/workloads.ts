import { deepEqual } from "@konverge/core";
import type { Strategy } from "../strategy.ts";
import type {
  CronJob,
  DaemonSet,
  Deployment,
  PodTemplate,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
  Stored,
} from "./objects.ts";
import { podSpecDefaults } from "./pod-spec/defaults.ts";

export const deployment: Strategy = {
  defaults({ spec }: Stored<Deployment>) {
    podSpecDefaults(spec.template.spec!);
    const { strategy } = spec;
    if (strategy?.type !== "RollingUpdate") return;
    strategy.rollingUpdate = { maxUnavailable: "25%", maxSurge: "25%", ...strategy.rollingUpdate };
  },
};

export const replicaSet: Strategy = {
  defaults: ({ spec }: Stored<ReplicaSet>) => podSpecDefaults(spec.template!.spec!),
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
};

export const statefulSet: Strategy = {
  defaults({ spec }: Stored<StatefulSet>) {
    podSpecDefaults(spec.template.spec!);
    for (const claim of spec.volumeClaimTemplates ?? []) {
      Object.assign(claim, { kind: "PersistentVolumeClaim", apiVersion: "v1" });
    }
    const { updateStrategy: strategy } = spec;
    if (strategy?.type !== "RollingUpdate") return;
    strategy.rollingUpdate = { partition: 0, ...strategy.rollingUpdate };
  },
};

export const replicationController: Strategy = {
  defaults({ metadata, spec }: Stored<ReplicationController>) {
    if (!spec?.template) return;
    podSpecDefaults(spec.template.spec!);
    const { labels } = spec.template.metadata ?? {};
    if (!labels || Object.keys(labels).length === 0) return;
    if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels };
    if (Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels };
  },
  fields: ({ status }: Stored<ReplicationController>) => ({ "status.replicas": String(status?.replicas ?? 0) }),
};

export const podTemplate: Strategy = {
  defaults: ({ template }: Stored<PodTemplate>) => podSpecDefaults(template!.spec!),
};

export const cronJob: Strategy = {
  defaults: ({ spec }: Stored<CronJob>) => podSpecDefaults(spec.jobTemplate.spec!.template.spec!),
};
