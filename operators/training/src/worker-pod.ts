import {
  type Affinity,
  Pod,
  type PodSpec,
  type ResourceRequirements,
  type Volume,
  type VolumeMount,
} from "konverge/kinds";
import { templateHash, truncatedName } from "konverge/objects";
import { gpuProductAffinity, podTemplate } from "konverge/pods";
import { argumentOf, HYPERPARAMETERS_PATH, type Hyperparameters } from "./hyperparameters.ts";
import {
  ATTEMPT_LABEL,
  CONTAINER,
  checkpointClaimName,
  hyperparametersName,
  INDEX_LABEL,
  labelsOf,
  podName,
  ROLE_LABEL,
  SPEC_LABEL,
  serviceName,
} from "./names.ts";
import type { TrainingJob } from "./training-job.ts";
import { environmentOf, type Member, portOf } from "./worker-environment.ts";
import { homeOf } from "./worker-home.ts";

/** Images for training mostly run as root, unless a template says otherwise. Checkpoints are written as this user. */
const USER = 1000;

/** What the gang's scheduler wants of its pods. */
export interface GangMarks {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly schedulerName?: string;
}

export interface PodContext {
  readonly hyperparameters: Hyperparameters;
  readonly gang: GangMarks;
  /** The GPU products that workers may run on, if the job says of which type they are. */
  readonly products: readonly string[];
  /** Where pods must run to share the job's claims. */
  readonly together?: Affinity | undefined;
  /** The names of pods that do not end, with their uids. */
  readonly taken?: ReadonlyMap<string, string>;
}

/**
 * A hash of everything in the spec that concerns pods. It covers only what the user wrote: a new version of this operator,
 * which may render pods differently, does not restart running ones.
 */
export function specHash({ spec }: TrainingJob, hyperparameters: Hyperparameters): string {
  const { framework, gpuPerWorker, gpuType, image, command, args, env, resources, dataVolume, elastic } = spec;
  const { checkpointDir, checkpointVolume, parameterServers, passHyperparameters, nodeSelector, tolerations } = spec;
  const { serviceAccountName, imagePullSecrets, podMetadata, scheduling, workers, template } = spec;
  const { onDelete: _, ...volume } = checkpointVolume ?? {};
  return templateHash({
    ...{ framework, gpuPerWorker, gpuType, image, command, resources, dataVolume, elastic },
    ...{ checkpointDir, parameterServers, serviceAccountName },
    ...{ scheduling, volume, hyperparameters, passHyperparameters },
    ...nonEmpty({ args, env, nodeSelector, tolerations, imagePullSecrets, podMetadata, template }),
    // An elastic job changes its size as it runs; any other has to restart.
    workers: elastic ? undefined : workers,
  });
}

/** An empty list or object of these asks for nothing: to add or remove one must not end a gang that runs. */
function nonEmpty(fields: Readonly<Record<string, object | undefined>>): Record<string, object | undefined> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value && Object.keys(value).length > 0));
}

/** A pod of the job. */
export function podFor(job: TrainingJob, member: Member, context: PodContext) {
  const { role, index, attempt } = member;
  const { podMetadata } = job.spec;
  const { metadata, spec } = podTemplate(
    {
      metadata: {
        labels: {
          ...podMetadata?.labels,
          ...context.gang.labels,
          ...labelsOf(job),
          [ROLE_LABEL]: role,
          [INDEX_LABEL]: String(index),
          [ATTEMPT_LABEL]: String(attempt),
          [SPEC_LABEL]: specHash(job, context.hyperparameters),
        },
        annotations: { ...podMetadata?.annotations, ...context.gang.annotations },
      },
      spec: podSpecFor(job, member, context),
    },
    { overlay: job.spec.template, user: USER },
  );
  return Pod.draft({
    metadata: {
      ...metadata,
      name: freeName(podName(job, role, index), context.taken),
      namespace: job.metadata.namespace,
    },
    spec: spec!,
  });
}

/** A pod that does not end keeps its name; its successor has another one, and the same host name. */
function freeName(name: string, taken: PodContext["taken"]): string {
  const uid = taken?.get(name);
  return uid === undefined ? name : freeName(truncatedName(name, templateHash(uid)), taken);
}

function podSpecFor(job: TrainingJob, member: Member, context: PodContext): PodSpec {
  const { hyperparameters, gang, products, together } = context;
  const { spec } = job;
  const home = homeOf(job);
  const storage = storageFor(job, hyperparameters);
  const volumes = [...storage.volumes, ...home.volumes];
  const volumeMounts = [...storage.volumeMounts, ...home.mounts];
  const schedulerName = spec.scheduling?.schedulerName ?? gang.schedulerName;
  const isOnGpus = member.role === "worker" && spec.gpuType !== undefined;
  const passed = spec.passHyperparameters.includes("args") ? Object.entries(hyperparameters) : [];
  const args = [...(spec.args ?? []), ...passed.map(([name, value]) => argumentOf(name, value))];
  return {
    // A worker that restarts alone finds no waiting peers: the operator restarts the gang.
    restartPolicy: "Never",
    hostname: podName(job, member.role, member.index),
    subdomain: serviceName(job),
    ...(schedulerName && { schedulerName }),
    ...(spec.scheduling?.priorityClassName && { priorityClassName: spec.scheduling.priorityClassName }),
    ...(spec.serviceAccountName && { serviceAccountName: spec.serviceAccountName }),
    ...(spec.imagePullSecrets && { imagePullSecrets: spec.imagePullSecrets }),
    ...(spec.nodeSelector && { nodeSelector: spec.nodeSelector }),
    ...((isOnGpus || together) && { affinity: { ...(isOnGpus && gpuProductAffinity(products)), ...together } }),
    ...(spec.tolerations && { tolerations: spec.tolerations }),
    containers: [
      {
        name: CONTAINER,
        image: spec.image,
        command: spec.command,
        ...(args.length > 0 && { args }),
        env: [...environmentOf(job, member, hyperparameters), ...home.env],
        ports: [{ name: "training", containerPort: portOf(job) }],
        ...resourcesFor(job, member),
        ...(volumeMounts.length > 0 && { volumeMounts }),
      },
    ],
    ...(volumes.length > 0 && { volumes }),
  };
}

function resourcesFor({ spec }: TrainingJob, { role }: Member): { resources?: ResourceRequirements } {
  const given = (role === "ps" ? spec.parameterServers?.resources : spec.resources) ?? {};
  const texts = (amounts: Record<string, string | number> = {}) =>
    Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]));
  const gpus: Record<string, string> =
    role === "worker" && spec.gpuPerWorker > 0 ? { "nvidia.com/gpu": String(spec.gpuPerWorker) } : {};
  const limits: Record<string, string> = { ...texts(given.limits), ...gpus };
  const requests = texts(given.requests);
  if (Object.keys(limits).length === 0 && Object.keys(requests).length === 0) return {};
  return {
    resources: {
      ...(Object.keys(limits).length > 0 && { limits }),
      ...(Object.keys(requests).length > 0 && { requests }),
    },
  };
}

interface Mount {
  volume: Volume;
  mount: VolumeMount;
}

function storageFor(job: TrainingJob, hyperparameters: Hyperparameters) {
  const { dataVolume, checkpointDir, checkpointVolume, framework, passHyperparameters } = job.spec;
  const mounts: Mount[] = [];
  if (dataVolume) {
    const { claimName, readOnly, mountPath } = dataVolume;
    mounts.push({
      volume: { name: "data", persistentVolumeClaim: { claimName, ...(readOnly && { readOnly }) } },
      mount: { name: "data", mountPath, ...(readOnly && { readOnly }) },
    });
  }
  if (checkpointDir) {
    const claimName = checkpointVolume && (checkpointVolume.claimName ?? checkpointClaimName(job));
    mounts.push({
      volume: { name: "checkpoints", ...(claimName ? { persistentVolumeClaim: { claimName } } : { emptyDir: {} }) },
      mount: { name: "checkpoints", mountPath: checkpointDir },
    });
  }
  if (passHyperparameters.includes("file") && Object.keys(hyperparameters).length > 0) {
    mounts.push({
      volume: { name: "hyperparameters", configMap: { name: hyperparametersName(job) } },
      mount: { name: "hyperparameters", mountPath: HYPERPARAMETERS_PATH, readOnly: true },
    });
  }
  if (framework === "pytorch") {
    // Data loaders and NCCL hand tensors over through it; a container's own is far too small.
    mounts.push({
      volume: { name: "shared-memory", emptyDir: { medium: "Memory" } },
      mount: { name: "shared-memory", mountPath: "/dev/shm" },
    });
  }
  return { volumes: mounts.map(({ volume }) => volume), volumeMounts: mounts.map(({ mount }) => mount) };
}
