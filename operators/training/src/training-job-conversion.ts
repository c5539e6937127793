import type { z } from "konverge";
import type { DeepReadonly } from "konverge/objects";
import type { TrainingJobStatus } from "./training-job-status.ts";
import type { trainingJobV1alpha1 } from "./training-job-v1alpha1.ts";
import type { trainingJobV1beta1 } from "./training-job-v1beta1.ts";

type StoredSpec = DeepReadonly<z.infer<typeof trainingJobV1alpha1>>;
type BetaSpec = DeepReadonly<z.infer<typeof trainingJobV1beta1>>;

interface Versioned<Spec> {
  spec: Spec;
  status?: TrainingJobStatus;
}

/** A v1beta1 object as it is stored. */
export function toStored({ spec, status }: Versioned<BetaSpec>): Versioned<StoredSpec> {
  const { worker, data, checkpoint, hyperparameters, runPolicy, framework, ...same } = spec;
  const { replicas, gpus, ...container } = worker;
  return {
    spec: defined({
      framework,
      workers: replicas,
      gpuPerWorker: gpus,
      ...container,
      ...same,
      dataVolume: data,
      checkpointDir: checkpoint?.directory,
      checkpointVolume: checkpoint?.volume,
      hyperparameters: hyperparameters.values,
      hyperparametersFrom: hyperparameters.from,
      passHyperparameters: hyperparameters.pass,
      ...runPolicy,
    }),
    ...(status && { status }),
  };
}

/** A stored object as v1beta1. */
export function fromStored({ spec, status }: Versioned<StoredSpec>): Versioned<BetaSpec> {
  const { framework, workers, gpuPerWorker, parameterServers, elastic, scheduling } = spec;
  const { gpuType, image, command, args, env, resources, nodeSelector, tolerations } = spec;
  const { serviceAccountName, imagePullSecrets, podMetadata, template } = spec;
  const { restartPolicy, backoffLimit, activeDeadlineSeconds, startDeadlineSeconds, ttlSecondsAfterFinished } = spec;
  const { cleanPodPolicy, successPolicy, suspend, checkpointDir, checkpointVolume } = spec;
  const { hyperparameters, hyperparametersFrom, passHyperparameters } = spec;
  return {
    spec: defined({
      framework,
      worker: defined({
        replicas: workers,
        gpus: gpuPerWorker,
        gpuType,
        image,
        command,
        args,
        env,
        resources,
        nodeSelector,
        tolerations,
        serviceAccountName,
        imagePullSecrets,
        podMetadata,
      }),
      parameterServers,
      elastic,
      data: spec.dataVolume,
      checkpoint: checkpointDir ? defined({ directory: checkpointDir, volume: checkpointVolume }) : undefined,
      hyperparameters: defined({
        values: hyperparameters,
        from: hyperparametersFrom,
        pass: passHyperparameters,
      }),
      runPolicy: defined({
        restartPolicy,
        backoffLimit,
        activeDeadlineSeconds,
        startDeadlineSeconds,
        ttlSecondsAfterFinished,
        cleanPodPolicy,
        successPolicy,
        suspend,
      }),
      scheduling,
      template,
    }),
    ...(status && { status }),
  };
}

/** The same without fields that are not set: an object on the wire has no undefined. */
function defined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as Defined<T>;
}

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};
