import type { FieldError, KindRef } from "konverge";
import { deepEqual, dns1123SubdomainErrors } from "konverge/objects";
import { type PodTemplateOverlay, podTemplateErrors } from "konverge/pods";
import {
  type AdmissionWebhook,
  admissionWebhook,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
} from "konverge/webhooks";
import { TrainJob } from "./train-job.ts";
import { patchesOf } from "./train-plan.ts";
import { ancestorOf, CONTAINER_OF, LAUNCHER, NODE } from "./train-pods.ts";
import { reservedNames } from "./train-policies.ts";
import {
  type ClusterTrainingRuntime,
  type ReplicatedJob,
  type RuntimeSpec,
  TRAINER_GROUP,
  type TrainingRuntime,
} from "./training-runtime.ts";

const REPLICATED_JOBS = "spec.template.spec.replicatedJobs";
const NOT_SUPPORTED = "is not supported by this operator";

/** What is wrong with a runtime beyond what its CRD can say: what upstream refuses, and what this operator does not do. */
export function runtimeProblems({ mlPolicy, podGroupPolicy, template }: RuntimeSpec): FieldError[] {
  const { failurePolicy, startupPolicy, coordinator, volumeClaimPolicies = [], replicatedJobs } = template.spec;
  const instead = (field: string, value: unknown, why: string) =>
    value === undefined ? [] : [fieldForbidden(field, why ? `${NOT_SUPPORTED}: ${why}` : NOT_SUPPORTED)];
  const retained = volumeClaimPolicies.findIndex((policy) => policy.retentionPolicy?.whenDeleted === "Retain");
  return [
    ...(mlPolicy?.mpi?.mpiImplementation === ""
      ? [fieldInvalid("spec.mlPolicy.mpi.mpiImplementation", "", "must be OpenMPI")]
      : []),
    ...instead("spec.mlPolicy.flux", mlPolicy?.flux, ""),
    ...(podGroupPolicy?.volcano && podGroupPolicy.coscheduling
      ? [fieldForbidden("spec.podGroupPolicy.coscheduling", "pods can be in one group only")]
      : []),
    ...instead("spec.template.spec.failurePolicy", failurePolicy, "use backoffLimit of the Job's template"),
    ...instead("spec.template.spec.startupPolicy", startupPolicy, "use dependsOn"),
    ...instead("spec.template.spec.coordinator", coordinator, ""),
    ...(retained < 0
      ? []
      : instead(
          `spec.template.spec.volumeClaimPolicies[${retained}].retentionPolicy`,
          "Retain",
          "name a claim in volumes",
        )),
    ...replicatedJobs.flatMap(stepProblems),
  ];
}

function stepProblems(step: ReplicatedJob, index: number, steps: readonly ReplicatedJob[]): FieldError[] {
  const at = `${REPLICATED_JOBS}[${index}]`;
  const pod = `${at}.template.spec.template`;
  const template = step.template.spec?.template;
  const wrong = typeErrors(template, pod);
  if (wrong.length > 0) return wrong;
  const containers = template?.spec?.containers ?? [];
  if (containers.length === 0) return [fieldRequired(`${pod}.spec.containers`)];
  const earlier = new Set(steps.slice(0, index).map(({ name }) => name));
  const unknown = step.dependsOn?.find(({ name }) => !earlier.has(name));
  const problems = unknown ? [fieldInvalid(`${at}.dependsOn`, unknown.name, "must name an earlier replicatedJob")] : [];
  const ancestor = ancestorOf(step);
  const name = ancestor && CONTAINER_OF[ancestor];
  if (!name) return problems;
  if (step.replicas !== 1) problems.push(fieldInvalid(`${at}.replicas`, step.replicas, "always must be 1"));
  if (!containers.some((one) => one.name === name)) {
    const why = `must contain the required container for the ancestor: ${ancestor}`;
    problems.push(fieldInvalid(`${pod}.spec.containers`, containers, why));
  }
  return problems;
}

/** Values of the wrong type. The API server may know fields that this operator does not. */
function typeErrors(template: object | undefined, path: string): FieldError[] {
  return podTemplateErrors(template as PodTemplateOverlay | undefined, path).filter(
    ({ message }) => message !== "unknown field",
  );
}

/** What is wrong with a TrainJob whatever its runtime is. */
function jobProblems(job: TrainJob): FieldError[] {
  const { runtimeRef, runtimePatches = [] } = job.spec;
  const { apiGroup, kind } = runtimeRef;
  const isKnown = apiGroup === TRAINER_GROUP && ["TrainingRuntime", "ClusterTrainingRuntime"].includes(kind);
  return [
    ...(isKnown ? [] : [fieldInvalid("spec.runtimeRef", runtimeRef, `unsupported runtime: ${kind}.${apiGroup}`)]),
    ...runtimePatches.flatMap(({ manager }, index) =>
      managerProblems(manager, `spec.runtimePatches[${index}].manager`),
    ),
    ...patchesOf(job).flatMap(({ pod, field }) => typeErrors(pod, field)),
  ];
}

function managerProblems(manager: string, field: string): FieldError[] {
  const [domain, path] = manager.split(/\/(.*)/s);
  if (!path) return [fieldInvalid(field, manager, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  return dns1123SubdomainErrors(domain!).map((why) => fieldInvalid(field, manager, why));
}

/** What keeps a TrainJob from running with a runtime, worded as upstream's webhook words it. */
export function trainProblems(job: TrainJob, runtime: RuntimeSpec): FieldError[] {
  const { runtimeRef, initializer, trainer } = job.spec;
  const wrong = jobProblems(job);
  const broken = runtimeProblems(runtime).map(({ field, message }) =>
    fieldInvalid("spec.runtimeRef", runtimeRef.name, `${field} of the runtime: ${message}`),
  );
  if (wrong.length > 0 || broken.length > 0) return [...wrong, ...broken];
  const reserved = new Set(reservedNames(runtime, job));
  const taken = (trainer?.env ?? []).map(({ name }) => name).filter((name) => reserved.has(name));
  const why = `must not have reserved envs, invalid envs configured: [${taken.sort().join(" ")}]`;
  const isTorchTune = runtime.mlPolicy?.torch && deepEqual(trainer?.command, ["tune", "run"]);
  return [
    ...(initializer?.dataset ? initializerProblems("dataset") : []),
    ...(initializer?.model ? initializerProblems("model") : []),
    ...(taken.length > 0 ? [fieldInvalid("spec.trainer.env", trainer?.env, why)] : []),
    ...launcherProblems(job, runtime),
    ...(isTorchTune
      ? [
          fieldForbidden(
            "spec.trainer.command",
            `choosing a recipe of torchtune ${NOT_SUPPORTED}: write the whole command`,
          ),
        ]
      : []),
    ...patchProblems(job, runtime),
  ];

  function initializerProblems(what: "dataset" | "model"): FieldError[] {
    const name = `${what}-initializer`;
    const invalid = (text: string) => [fieldInvalid("spec.runtimeRef", runtimeRef.name, text)];
    const step = runtime.template.spec.replicatedJobs.find((one) => one.name === name);
    if (!step) return invalid(`must have ${name} job when trainJob is configured with input ${what}Config`);
    const container = step.template.spec?.template.spec?.containers.find((one) => one.name === name);
    if (!container) return invalid(`must have container with name - ${name} in the ${name} job`);
    if (container.volumeMounts?.some((mount) => mount.name === "initializer")) return [];
    return invalid(`must have volumeMount with name - initializer in container ${name} of the ${name} job`);
  }
}

/** A launcher that is also a node is one of several only if the runtime has both. */
function launcherProblems({ spec }: TrainJob, { mlPolicy, template }: RuntimeSpec): FieldError[] {
  const { numNodes = 1 } = spec.trainer ?? {};
  if (numNodes < 2 || !mlPolicy?.mpi?.runLauncherAsNode) return [];
  const names = new Set(template.spec.replicatedJobs.map(({ name }) => name));
  if (names.has(LAUNCHER) && names.has(NODE)) return [];
  const why =
    "must have 1 when MPI trainingRuntime with enabled runLauncherAsNode does not have either launcher and node";
  return [fieldInvalid("spec.trainer.numNodes", numNodes, why)];
}

function patchProblems(job: TrainJob, { template }: RuntimeSpec): FieldError[] {
  return patchesOf(job).flatMap(({ step: name, pod, field }) => {
    const step = template.spec.replicatedJobs.find((one) => one.name === name);
    if (!step) {
      return [fieldInvalid(field, name, "must not have replicated job that doesn't exist in the runtime job template")];
    }
    const spec = step.template.spec?.template.spec;
    const known = new Set([...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].map((one) => one.name));
    const own = Object.values(CONTAINER_OF);
    const problem = (one: { name: string; env?: readonly unknown[] | undefined }, what: string) => {
      if (!known.has(one.name)) {
        return [fieldInvalid(field, one.name, `must not have ${what} that doesn't exist in the runtime job ${name}`)];
      }
      if (what !== "container" || !one.env?.length || !own.includes(one.name)) return [];
      const names = "dataset-initializer, model-initializer, node";
      return [fieldInvalid(field, one.name, `must not have envs for the ${names} containers`)];
    };
    return [
      ...(pod?.spec?.initContainers ?? []).flatMap((one) => problem(one, "initContainer")),
      ...(pod?.spec?.containers ?? []).flatMap((one) => problem(one, "container")),
    ];
  });
}

/** Refuses TrainJobs that no runtime could run, and changes to patches while pods run. */
export function trainJobAdmission(): AdmissionWebhook {
  return admissionWebhook(TrainJob, {
    validate(job, { old }) {
      if (job.metadata.deletionTimestamp || (old && deepEqual(old.spec, job.spec))) return [];
      const isSuspended = !old || old.spec.suspend || job.spec.suspend;
      const fixed = (field: "runtimePatches" | "podTemplateOverrides") => {
        if (isSuspended || deepEqual(old.spec[field] ?? [], job.spec[field] ?? [])) return [];
        const name = `${field[0]!.toUpperCase()}${field.slice(1)}`;
        const why = `${name} can only be modified when the TrainJob is suspended before or after the update`;
        return [fieldForbidden(`spec.${field}`, why)];
      };
      return [...fixed("runtimePatches"), ...fixed("podTemplateOverrides"), ...jobProblems(job)];
    },
  });
}

/** Refuses runtimes that no TrainJob could use. */
export function runtimeAdmission(kind: KindRef<TrainingRuntime> | KindRef<ClusterTrainingRuntime>): AdmissionWebhook {
  return admissionWebhook(kind as KindRef<TrainingRuntime>, {
    validate: ({ metadata, spec }, { old }) =>
      metadata.deletionTimestamp || (old && deepEqual(old.spec, spec)) ? [] : runtimeProblems(spec),
  });
}
