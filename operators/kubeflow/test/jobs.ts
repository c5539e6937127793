import { readdirSync, readFileSync } from "node:fs";
import { type JobObject, MPIJob, MXJob, PyTorchJob, TFJob, TrainJob, XGBoostJob } from "@konverge/kubeflow-operator";
import type { TestEnvironment } from "@konverge/operator-suite";
import { isNotFound, type KindRef } from "konverge";
import { Job as BatchJob, Pod } from "konverge/kinds";
import { sleep } from "konverge/time";

const samples = new URL("../samples/", import.meta.url);

/** The samples in the order of their files. */
export const sampleFiles = readdirSync(samples).sort();
export const sample = (file: string) => readFileSync(new URL(file, samples), "utf8");

/** Pods are as the job's template has them, as with upstream: what it says about security, or does not, stays. */
export const AS_WRITTEN = { podSecurity: "privileged" } as const;

/** What tests need to know of a kind. */
export interface Kind {
  readonly kind: KindRef<JobObject>;
  readonly container: string;
  readonly specs: string;
  /** The type whose pods decide when the job is done. */
  readonly lead: string;
  readonly more?: object;
}

export const PYTORCH: Kind = {
  kind: PyTorchJob as unknown as KindRef<JobObject>,
  container: "pytorch",
  specs: "pytorchReplicaSpecs",
  lead: "Master",
};
export const TENSORFLOW: Kind = {
  kind: TFJob as unknown as KindRef<JobObject>,
  container: "tensorflow",
  specs: "tfReplicaSpecs",
  lead: "Chief",
};
export const XGBOOST: Kind = {
  kind: XGBoostJob as unknown as KindRef<JobObject>,
  container: "xgboost",
  specs: "xgbReplicaSpecs",
  lead: "Master",
};
export const MXNET: Kind = {
  kind: MXJob as unknown as KindRef<JobObject>,
  container: "mxnet",
  specs: "mxReplicaSpecs",
  lead: "Scheduler",
  more: { jobMode: "MXTrain" },
};
/** Its launcher is a Job, so it has separate tests. */
export const MPI: Kind = {
  kind: MPIJob as unknown as KindRef<JobObject>,
  container: "mpi",
  specs: "mpiReplicaSpecs",
  lead: "Launcher",
};
/** It has no replicas, but the Jobs of its runtime. */
export const TRAIN: Kind = {
  kind: TrainJob as unknown as KindRef<JobObject>,
  container: "node",
  specs: "trainer",
  lead: "node",
};
export const KINDS = [PYTORCH, TENSORFLOW, XGBOOST, MXNET];

/** The replicas of a job in a test, with a container of the framework. */
export interface ReplicaSettings {
  readonly replicas?: number;
  readonly restartPolicy?: string;
  readonly container?: object;
  readonly template?: object;
}

/** A job of a kind as users write it. */
export function job(
  { kind, container, specs, more }: Kind,
  name: string,
  settings: Readonly<Record<string, ReplicaSettings>>,
  spec: object = {},
): object {
  const replica = ({ container: details, template, replicas = 1, restartPolicy }: ReplicaSettings) => ({
    replicas,
    ...(restartPolicy && { restartPolicy }),
    template: template ?? {
      spec: { containers: [{ name: container, image: "example.com/train:1.0", command: ["train"], ...details }] },
    },
  });
  const replicas = Object.fromEntries(Object.entries(settings).map(([type, one]) => [type, replica(one)]));
  return {
    apiVersion: "kubeflow.org/v1",
    kind: kind.kind,
    metadata: { name },
    spec: { ...more, [specs]: replicas, ...spec },
  };
}

/** The last condition, which is what `kubectl get` shows as the state. */
export async function stateOf(stage: TestEnvironment, { kind }: Kind, name: string): Promise<string | undefined> {
  return (await stage.find(kind, name))?.status?.conditions?.at(-1)?.type;
}

export async function untilState(stage: TestEnvironment, kind: Kind, name: string, state: string): Promise<void> {
  await stage.until(`${name} is ${state}`, async () => (await stateOf(stage, kind, name)) === state);
}

export async function podsOf(stage: TestEnvironment, job: string): Promise<readonly Pod[]> {
  return stage.list(Pod, `training.kubeflow.org/job-name=${job}`);
}

export const namesOf = (objects: readonly { metadata: { name: string } }[]) =>
  objects.map(({ metadata }) => metadata.name).sort();

export const envOf = (pod: Pod): Record<string, string | undefined> =>
  Object.fromEntries((pod.spec!.containers[0]!.env ?? []).map(({ name, value }) => [name, value]));

/** Ends a pod as its node would report it. No node contradicts it: an end is final. */
export async function endPod(stage: TestEnvironment, name: string, exitCode: number): Promise<void> {
  await endPodOf(stage.client, `${stage.namespace}/${name}`, exitCode);
}

/** An image whose mpirun exits after ten seconds, even after a replacement; all other commands run until they are stopped. */
export function runMpi({ cluster, clock }: TestEnvironment, image: string): void {
  cluster?.image(image, {
    async run({ command, stop }) {
      const stopped = new Promise<void>((resolve) => stop.addEventListener("abort", () => resolve(), { once: true }));
      if (command[0] === "mpirun") await Promise.race([sleep(clock, 10_000), stopped]);
      else await stopped;
      return stop.aborted ? 143 : 0;
    },
  });
}

/** Ends the pod of a key. */
export async function endPodOf(
  client: TestEnvironment["client"],
  key: `${string}/${string}`,
  exitCode: number,
): Promise<void> {
  const { spec, status } = await client.get(Pod, key);
  const time = status?.startTime ?? "2026-01-01T00:00:00Z";
  const containerStatuses = spec!.containers.map(({ name, image }) => ({
    name,
    image: image!,
    imageID: "",
    ready: false,
    restartCount: 0,
    state: {
      terminated: { exitCode, reason: exitCode === 0 ? "Completed" : "Error", startedAt: time, finishedAt: time },
    },
  }));
  try {
    await client.patchStatus(Pod, key, {
      merge: { status: { phase: exitCode === 0 ? "Succeeded" : "Failed", containerStatuses } },
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Changes the spec of a job. */
export async function change(stage: TestEnvironment, { kind }: Kind, name: string, spec: object): Promise<void> {
  await stage.client.patch(kind, `${stage.namespace}/${name}`, { merge: { spec } } as never);
}

/** A pod that is deleted or changed is replaced, which is more than a repair. */
export const isPod = ({ kind }: { kind: string }) => kind === "Pod";

/** Deletes a Job with its pods, as kubectl does. */
export async function deleteJob({ client, namespace }: TestEnvironment, name: string): Promise<void> {
  await client.delete(BatchJob, `${namespace}/${name}`, { propagationPolicy: "Background" }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}
