import assert from "node:assert/strict";
import type { CommandResult, TestEnvironment } from "@konverge/operator-suite";
import { TrainingJob } from "@konverge/training-operator";
import { Pod } from "konverge/kinds";
import { timestamp } from "konverge/time";

/** A job of the document's, and another. */
export interface TrainingCase {
  readonly namespace: string;
  readonly name: string;
  readonly framework: "pytorch" | "tensorflow";
  readonly workers: number;
  readonly gpus: number;
  readonly image: string;
  readonly command: readonly string[];
  readonly claim: string;
  readonly checkpointDir: string;
  readonly hyperparameters: Readonly<Record<string, string | number>>;
  /** One of them, as the variable that workers find it in. */
  readonly variable: readonly [name: string, value: string];
}

export const cases: readonly [TrainingCase, TrainingCase] = [
  {
    namespace: "ml-team",
    name: "mnist-training",
    framework: "pytorch",
    workers: 4,
    gpus: 1,
    image: "pytorch/pytorch:1.12.0-cuda11.3",
    command: ["python", "/workspace/train.py", "--epochs=10", "--batch-size=64"],
    claim: "training-data-pvc",
    checkpointDir: "/checkpoints/mnist",
    hyperparameters: { learningRate: 0.001, optimizer: "adam", momentum: 0.9 },
    variable: ["HP_LEARNING_RATE", "0.001"],
  },
  {
    namespace: "research",
    name: "wide-deep",
    framework: "tensorflow",
    workers: 2,
    gpus: 2,
    image: "tensorflow/tensorflow:2.17.0-gpu",
    command: ["python", "-m", "ranking.train"],
    claim: "clicks",
    checkpointDir: "/mnt/out",
    hyperparameters: { embedding_dim: 32, activation: "relu" },
    variable: ["HP_EMBEDDING_DIM", "32"],
  },
];

/** The job as a user writes it; `more` is added to its spec. */
export function jobOf(values: TrainingCase, more: object = {}): object {
  const { namespace, name, framework, workers, gpus, image, command, claim, checkpointDir, hyperparameters } = values;
  return {
    apiVersion: "ml.example.com/v1alpha1",
    kind: "TrainingJob",
    metadata: { name, namespace },
    spec: {
      ...{ framework, workers, gpuPerWorker: gpus, image, command },
      ...{ dataVolume: { claimName: claim }, checkpointDir, hyperparameters },
      ...more,
    },
  };
}

/** The claim that the job names, bound to a volume: a real control plane alone provides none. */
export async function provideData(stage: TestEnvironment, { claim }: TrainingCase): Promise<void> {
  const volume = `${stage.namespace}-${claim}-${stage.clock.random.uuid().slice(0, 8)}`;
  const spec = { accessModes: ["ReadWriteMany"], storageClassName: "" };
  await stage.apply({
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: volume },
    spec: {
      ...spec,
      capacity: { storage: "10Gi" },
      hostPath: { path: "/data" },
      claimRef: { namespace: stage.namespace, name: claim },
      persistentVolumeReclaimPolicy: "Delete",
    },
  });
  await stage.apply({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: claim },
    spec: { ...spec, volumeName: volume, resources: { requests: { storage: "10Gi" } } },
  });
}

export const phaseOf = async (stage: TestEnvironment, name: string) =>
  (await stage.find(TrainingJob, name))?.status?.phase;

export const untilPhase = (stage: TestEnvironment, name: string, phase: string) =>
  stage.until(`${name} is ${phase}`, async () => (await phaseOf(stage, name)) === phase);

export const podsOf = (stage: TestEnvironment, name: string) => stage.list(Pod, `ml.example.com/training-job=${name}`);

export const workerNames = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name}-worker-${index}`);

/** Ends a worker as its node would report it. */
export async function endWorker(stage: TestEnvironment, pod: string, exitCode: number): Promise<void> {
  const { spec } = await stage.get(Pod, pod);
  const time = timestamp(stage.clock);
  const reason = exitCode === 0 ? "Completed" : "Error";
  const terminated = { exitCode, reason, startedAt: time, finishedAt: time };
  const container = { name: "trainer", image: spec!.containers[0]!.image!, imageID: "", ready: false, restartCount: 0 };
  await stage.client.patchStatus(Pod, `${stage.namespace}/${pod}`, {
    merge: {
      status: {
        phase: exitCode === 0 ? "Succeeded" : "Failed",
        containerStatuses: [{ ...container, state: { terminated } }],
      },
    },
  });
}

/** Runs a line of shell, which must succeed, and gives what it printed. */
export async function sh(
  stage: TestEnvironment,
  command: string,
  options: Parameters<TestEnvironment["shell"]>[1] = {},
): Promise<string> {
  const { code, stdout, stderr }: CommandResult = await stage.shell(command, options);
  assert.equal(code, 0, `${command}\n${stdout}${stderr}`);
  return stdout;
}
