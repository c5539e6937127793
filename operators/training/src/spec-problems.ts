import type { FieldError } from "konverge";
import { parseQuantity } from "konverge/objects";
import { podTemplateErrors } from "konverge/pods";
import { fieldForbidden, fieldInvalid, fieldRequired } from "konverge/webhooks";
import { variableOf } from "./hyperparameters.ts";
import { queueErrors } from "./kueue.ts";
import type { TrainingJob } from "./training-job.ts";

/** Settings of torch and TensorFlow that workers would lose their place by. */
const RESERVED = new Set(["RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "TF_CONFIG", "CHECKPOINT_DIR"]);
const GPU = "nvidia.com/gpu";

/**
 * What is wrong with a job beyond what its CRD can say. Admission refuses such a job; the controller reports it, for
 * jobs that came past admission or past the CRD's own rules.
 */
export function specProblems(job: TrainingJob): FieldError[] {
  const { spec } = job;
  return [
    ...queueErrors(job),
    ...missing(spec),
    ...volumes(spec),
    ...amounts(spec),
    ...variables(spec),
    ...podTemplateErrors(spec.template),
  ];
}

type Spec = TrainingJob["spec"];

function missing(spec: Partial<Spec>): FieldError[] {
  const problems: FieldError[] = [];
  if (!spec.image) problems.push(fieldRequired("spec.image", "the image that trains"));
  if (!spec.command?.length) problems.push(fieldRequired("spec.command", "what the image runs"));
  return problems;
}

function volumes({ dataVolume, checkpointDir }: Partial<Spec>): FieldError[] {
  if (!dataVolume || !checkpointDir) return [];
  const { mountPath } = dataVolume;
  const isSame = trimmed(mountPath) === trimmed(checkpointDir);
  const why = "data and checkpoints cannot be mounted at the same path: set dataVolume.mountPath to another one";
  return isSame ? [fieldInvalid("spec.checkpointDir", checkpointDir, why)] : [];
}

const trimmed = (path: string) => path.replace(/\/+$/, "");

function amounts({ resources, gpuPerWorker = 0 }: Partial<Spec>): FieldError[] {
  const problems: FieldError[] = [];
  for (const [part, given] of Object.entries(resources ?? {})) {
    for (const [name, amount] of Object.entries(given ?? {})) {
      const field = `spec.resources.${part}[${name}]`;
      if (name === GPU && String(amount) !== String(gpuPerWorker)) {
        problems.push(fieldInvalid(field, amount, `gpuPerWorker requests ${gpuPerWorker}: remove GPUs from resources`));
      }
    }
  }
  for (const [name, request] of Object.entries(resources?.requests ?? {})) {
    const limit = resources?.limits?.[name];
    if (limit === undefined || !exceeds(request, limit)) continue;
    problems.push(fieldInvalid(`spec.resources.requests[${name}]`, request, `it exceeds the limit of ${limit}`));
  }
  return problems;
}

function exceeds(a: string | number, b: string | number): boolean {
  return parseQuantity(String(a)).cmp(parseQuantity(String(b))) > 0;
}

function variables({ env = [], hyperparameters = {}, passHyperparameters = [] }: Partial<Spec>): FieldError[] {
  const problems: FieldError[] = [];
  for (const { name } of env) {
    if (!RESERVED.has(name)) continue;
    problems.push(fieldForbidden(`spec.env[${name}]`, `${name} is set by the operator for each worker`));
  }
  if (!passHyperparameters.includes("env")) return problems;
  const nameOf = new Map<string, string>();
  for (const name of Object.keys(hyperparameters)) {
    const variable = variableOf(name);
    const other = nameOf.get(variable);
    if (other !== undefined) {
      const why = `${other} and ${name} would both become ${variable}: rename one of them`;
      problems.push(fieldInvalid("spec.hyperparameters", name, why));
    }
    nameOf.set(variable, name);
  }
  return problems;
}
