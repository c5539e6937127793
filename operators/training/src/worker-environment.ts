import type { EnvVar } from "konverge/kinds";
import { type Hyperparameters, variableOf } from "./hyperparameters.ts";
import { hostOf, type Role } from "./names.ts";
import type { TrainingJob } from "./training-job.ts";

/** A pod of a job: what it does, which one it is, and of which gang. */
export interface Member {
  readonly role: Role;
  readonly index: number;
  readonly attempt: number;
}

/** The port on which worker 0 (PyTorch) or every process (TensorFlow) listens. */
export function portOf({ spec }: TrainingJob): number {
  return spec.framework === "pytorch" ? 23456 : 2222;
}

/**
 * The variables of a pod: how the framework finds the other workers, then hyperparameters and checkpoints, then the
 * user's own. What the operator sets cannot be replaced, since a worker with another RANK would take its place.
 */
export function environmentOf(job: TrainingJob, member: Member, hyperparameters: Hyperparameters): EnvVar[] {
  const set: Record<string, string> = {
    ...(job.spec.framework === "pytorch" ? pytorch(job, member) : tensorflow(job, member)),
    ...(job.spec.passHyperparameters.includes("env") && variables(hyperparameters)),
    ...checkpoints(job, member),
    TRAINING_JOB: job.metadata.name,
    TRAINING_ATTEMPT: String(member.attempt),
  };
  const own = (job.spec.env ?? []).filter(({ name }) => !Object.hasOwn(set, name));
  return [...Object.entries(set).map(([name, value]) => ({ name, value })), ...own];
}

/** `PET_` variables are what torchrun reads in place of its options; the others, what a script reads that it starts. */
function pytorch(job: TrainingJob, { index }: Member): Record<string, string> {
  const { workers, gpuPerWorker, elastic, backoffLimit } = job.spec;
  const address = { MASTER_ADDR: hostOf(job, "worker", 0), MASTER_PORT: String(portOf(job)) };
  const processes = { PET_NPROC_PER_NODE: String(Math.max(1, gpuPerWorker)), PYTHONUNBUFFERED: "1" };
  if (elastic) {
    return {
      ...address,
      ...processes,
      PET_NNODES: `${elastic.minWorkers}:${elastic.maxWorkers}`,
      PET_RDZV_BACKEND: "c10d",
      PET_RDZV_ENDPOINT: `${address.MASTER_ADDR}:${address.MASTER_PORT}`,
      PET_RDZV_ID: job.metadata.uid ?? job.metadata.name,
      // Without any, the loss of one worker ends the others, which lost their peer.
      PET_MAX_RESTARTS: String(elastic.maxRestarts ?? backoffLimit),
    };
  }
  return {
    ...address,
    RANK: String(index),
    WORLD_SIZE: String(workers),
    ...processes,
    PET_MASTER_ADDR: address.MASTER_ADDR,
    PET_MASTER_PORT: address.MASTER_PORT,
    PET_NNODES: String(workers),
    PET_NODE_RANK: String(index),
  };
}

function tensorflow(job: TrainingJob, { role, index }: Member): Record<string, string> {
  const { workers, parameterServers } = job.spec;
  const hosts = (of: Role, count: number) =>
    Array.from({ length: count }, (_, i) => `${hostOf(job, of, i)}:${portOf(job)}`);
  const cluster = {
    worker: hosts("worker", workers),
    ...(parameterServers && { ps: hosts("ps", parameterServers.count) }),
  };
  return {
    TF_CONFIG: JSON.stringify({ cluster, task: { type: role, index }, environment: "cloud" }),
    PYTHONUNBUFFERED: "1",
  };
}

function variables(hyperparameters: Hyperparameters): Record<string, string> {
  return Object.fromEntries(Object.entries(hyperparameters).map(([name, value]) => [variableOf(name), value]));
}

function checkpoints({ spec, status }: TrainingJob, { attempt }: Member): Record<string, string> {
  if (!spec.checkpointDir) return {};
  const last = status?.lastCheckpoint?.path;
  return {
    CHECKPOINT_DIR: spec.checkpointDir,
    ...(attempt > 0 && spec.checkpointVolume && { RESUME: "true", ...(last && { RESUME_CHECKPOINT: last }) }),
  };
}
