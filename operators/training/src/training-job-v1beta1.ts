import { z } from "konverge";
import * as field from "./training-job-fields.ts";

/**
 * The spec of v1beta1: what belongs together stands together. It says the same as v1alpha1, so that each can be made from
 * the other without a loss.
 */
export const trainingJobV1beta1 = z.object({
  framework: field.framework,
  worker: z.object({
    replicas: field.workers,
    gpus: field.gpuPerWorker,
    gpuType: field.gpuType,
    image: field.image,
    command: field.command,
    args: field.args,
    env: field.env,
    resources: field.resources,
    nodeSelector: field.nodeSelector,
    tolerations: field.tolerations,
    serviceAccountName: field.serviceAccountName,
    imagePullSecrets: field.imagePullSecrets,
    podMetadata: field.podMetadata,
  }),
  parameterServers: field.parameterServers,
  elastic: field.elastic,
  data: field.dataVolume,
  checkpoint: z
    .object({
      directory: field.checkpointDir.unwrap(),
      volume: field.checkpointVolume,
    })
    .optional(),
  hyperparameters: z
    .object({
      values: field.hyperparameters,
      from: field.hyperparametersFrom,
      pass: field.passHyperparameters,
    })
    .default({ pass: ["env", "file"] }),
  runPolicy: z
    .object({
      restartPolicy: field.restartPolicy,
      backoffLimit: field.backoffLimit,
      activeDeadlineSeconds: field.activeDeadlineSeconds,
      startDeadlineSeconds: field.startDeadlineSeconds,
      ttlSecondsAfterFinished: field.ttlSecondsAfterFinished,
      cleanPodPolicy: field.cleanPodPolicy,
      successPolicy: field.successPolicy,
      suspend: field.suspend,
    })
    .default({
      restartPolicy: "OnFailure",
      backoffLimit: 3,
      cleanPodPolicy: "Running",
      successPolicy: "AllWorkers",
      suspend: false,
    }),
  scheduling: field.scheduling,
  template: field.template,
});
