import type { Drafted } from "konverge";
import {
  Job as BatchJob,
  type Container,
  type EnvVar,
  type JobTemplateSpec,
  PersistentVolumeClaim,
  type PodTemplateSpec,
  Service,
} from "konverge/kinds";
import { mergePodTemplate, type PodTemplateOverlay } from "konverge/pods";
import { podGroupMarks } from "./pod-group-marks.ts";
import type { PodTemplatePatch, TrainJob } from "./train-job.ts";
import { trainsBesideLauncher, withMpi } from "./train-mpi.ts";
import {
  ancestorOf,
  CONTAINER_OF,
  countOf,
  JOBSET_NAME,
  NODE,
  ownLabels,
  STEP_NAME,
  subdomainOf,
} from "./train-pods.ts";
import { policyVariables, TRAINER_PORT } from "./train-policies.ts";
import type { ReplicatedJob, RuntimeSpec } from "./training-runtime.ts";

const JOB_INDEX = "jobset.sigs.k8s.io/job-index";

/** The Jobs that are created from one Job of the runtime. */
export interface Step {
  readonly name: string;
  readonly dependsOn: NonNullable<ReplicatedJob["dependsOn"]>;
  readonly jobs: readonly Drafted<BatchJob>[];
}

/** What is merged into one Job of the runtime. */
export interface Patch {
  readonly step: string;
  readonly metadata?: PodTemplatePatch["metadata"];
  readonly pod?: PodTemplatePatch | undefined;
  /** Where it is in the TrainJob. */
  readonly field: string;
}

/** The Jobs of a TrainJob, as a JobSet would have them. */
export function stepsOf(job: TrainJob, runtime: RuntimeSpec): Step[] {
  const { replicatedJobs } = runtime.template.spec;
  return replicatedJobs.map((step) => {
    const template = templateOf(job, step, runtime);
    const jobs = Array.from({ length: step.replicas }, (_, index) =>
      jobFor(job, step, index, template, podGroupMarks(job, runtime)),
    );
    return { name: step.name, dependsOn: step.dependsOn ?? [], jobs };
  });
}

/** The Service that gives pods their names; undefined if the runtime wants none. */
export function trainServiceFor(job: TrainJob, runtime: RuntimeSpec) {
  const name = subdomainOf(job, runtime);
  if (!name) return undefined;
  return Service.draft({
    metadata: { name, namespace: job.metadata.namespace!, labels: ownLabels(job) },
    spec: {
      clusterIP: "None",
      selector: { [JOBSET_NAME]: job.metadata.name },
      publishNotReadyAddresses: runtime.template.spec.network?.publishNotReadyAddresses ?? true,
    },
  });
}

/** The volumes that the Jobs share. */
export function claimsFor(job: TrainJob, runtime: RuntimeSpec) {
  return claimTemplates(runtime).map(({ metadata, spec }) =>
    PersistentVolumeClaim.draft({
      metadata: {
        ...metadata,
        name: claimName(job, metadata.name!),
        namespace: job.metadata.namespace!,
        labels: { ...metadata.labels, ...ownLabels(job) },
      },
      spec,
    }),
  );
}

/** All patches of a TrainJob, in the order in which they are applied. */
export function patchesOf({ spec }: TrainJob): Patch[] {
  const overrides = (spec.podTemplateOverrides ?? []).flatMap(({ targetJobs, ...pod }, index) =>
    targetJobs.map(({ name }) => ({ step: name, pod, field: `spec.podTemplateOverrides[${index}]` })),
  );
  const patches = (spec.runtimePatches ?? []).flatMap(({ trainingRuntimeSpec }, index) =>
    (trainingRuntimeSpec?.template?.spec?.replicatedJobs ?? []).map(({ name, template }) => ({
      step: name,
      metadata: template?.metadata,
      pod: template?.spec?.template,
      field: `spec.runtimePatches[${index}]`,
    })),
  );
  return [...overrides, ...patches];
}

export const claimTemplates = ({ template }: RuntimeSpec) =>
  (template.spec.volumeClaimPolicies ?? []).flatMap(({ templates }) => templates);

const claimName = (job: TrainJob, template: string) => `${template}-${job.metadata.name}`;

function jobFor(
  job: TrainJob,
  { name }: ReplicatedJob,
  index: number,
  { metadata, spec }: JobTemplateSpec,
  marks: ReturnType<typeof podGroupMarks>,
) {
  const labels = { ...ownLabels(job), [STEP_NAME]: name, [JOB_INDEX]: String(index) };
  const { template } = spec!;
  return BatchJob.draft({
    metadata: {
      name: `${job.metadata.name}-${name}-${index}`,
      namespace: job.metadata.namespace!,
      ...(metadata?.annotations && { annotations: metadata.annotations }),
      labels: { ...metadata?.labels, ...labels },
    },
    spec: {
      ...spec!,
      template: {
        ...template,
        metadata: {
          ...template.metadata,
          ...(marks.annotations && { annotations: { ...template.metadata?.annotations, ...marks.annotations } }),
          labels: { ...template.metadata?.labels, ...labels, ...marks.labels },
        },
      },
    },
  });
}

/** The template of a Job: the runtime's, what is merged into it, and what the TrainJob overrides. */
function templateOf(job: TrainJob, step: ReplicatedJob, runtime: RuntimeSpec): JobTemplateSpec {
  const { template } = step;
  const patches = patchesOf(job).filter((patch) => patch.step === step.name);
  const wholes = (job.spec.runtimePatches ?? []).map((patch) => patch.trainingRuntimeSpec?.template?.metadata);
  const metadata = mergedMetadata([
    runtime.template.metadata,
    ...wholes,
    template.metadata,
    ...patches.map((patch) => patch.metadata),
  ]);
  const pod = patches.reduce<PodTemplateSpec>(
    (merged, patch) => (patch.pod ? mergePodTemplate(merged, patch.pod as PodTemplateOverlay) : merged),
    template.spec!.template,
  );
  const count = countOf(job, step, runtime);
  const containers = (pod.spec?.containers ?? []).map((one) => containerOf(one, job, step, runtime));
  const initContainers = pod.spec?.initContainers?.map((one) => withInjected(one, job, step, runtime));
  const subdomain = subdomainOf(job, runtime);
  const mounted = new Set([...containers, ...(initContainers ?? [])].flatMap(mountsOf));
  const volumes = claimTemplates(runtime)
    .filter((claim) => mounted.has(claim.metadata.name!))
    .map(({ metadata: { name } }) => ({
      name: name!,
      persistentVolumeClaim: { claimName: claimName(job, name!) },
    }));
  return {
    ...(metadata && { metadata }),
    spec: {
      completionMode: "Indexed",
      ...template.spec!,
      suspend: false,
      parallelism: count,
      completions: count,
      template: {
        ...pod,
        spec: withMpi(
          {
            restartPolicy: "OnFailure",
            ...pod.spec!,
            containers,
            ...(initContainers && { initContainers }),
            ...(subdomain && { subdomain }),
            ...(volumes.length > 0 && { volumes: [...(pod.spec?.volumes ?? []), ...volumes] }),
          },
          job,
          step,
          runtime,
        ),
      },
    },
  };
}

type Metadata = { labels?: Readonly<Record<string, string>>; annotations?: Readonly<Record<string, string>> };

/** There is no JobSet: what it would be labeled with, its Jobs are. */
function mergedMetadata(all: readonly (Metadata | undefined)[]): JobTemplateSpec["metadata"] {
  const labels = Object.assign({}, ...all.map((one) => one?.labels));
  const annotations = Object.assign({}, ...all.map((one) => one?.annotations));
  return { labels, ...(Object.keys(annotations).length > 0 && { annotations }) };
}

const mountsOf = ({ volumeMounts = [] }: Container) => volumeMounts.map(({ name }) => name);

function containerOf(container: Container, job: TrainJob, step: ReplicatedJob, runtime: RuntimeSpec): Container {
  const ancestor = ancestorOf(step);
  const isNode = container.name === NODE && trainsBesideLauncher(step, runtime) && ancestor !== "trainer";
  if (isNode) return withTrainer(container, job);
  if (!ancestor || container.name !== CONTAINER_OF[ancestor]) return withInjected(container, job, step, runtime);
  if (ancestor === "trainer") return trainerContainer(container, job, step, runtime);
  const { dataset, model } = job.spec.initializer ?? {};
  const { storageUri, env, secretRef } = (ancestor === "dataset-initializer" ? dataset : model) ?? {};
  const uri = storageUri === undefined ? [] : [{ name: "STORAGE_URI", value: storageUri }];
  const merged = withVariables(container, [...uri, ...((env ?? []) as EnvVar[])]);
  return secretRef ? { ...merged, envFrom: [...(container.envFrom ?? []), { secretRef: { ...secretRef } }] } : merged;
}

/** The variables and resources of a TrainJob, which nodes of MPI share with a launcher that is one, too. */
function withTrainer(container: Container, { spec }: TrainJob): Container {
  const { env, resourcesPerNode } = spec.trainer ?? {};
  return {
    ...withVariables(container, (env ?? []) as EnvVar[]),
    ...(resourcesPerNode && {
      resources: mergedResources(container.resources, resourcesPerNode as Container["resources"]),
    }),
  };
}

function trainerContainer(container: Container, job: TrainJob, step: ReplicatedJob, runtime: RuntimeSpec): Container {
  const { image, command, args } = job.spec.trainer ?? {};
  const { resources } = container;
  const variables = policyVariables(runtime, { job, nodes: countOf(job, step, runtime), resources });
  const hasPort = container.ports?.some(({ containerPort }) => containerPort === TRAINER_PORT);
  const port = { containerPort: TRAINER_PORT };
  return {
    ...withVariables(withTrainer(container, job), variables),
    ...(image !== undefined && { image }),
    ...(command && { command: [...command] }),
    ...(args && { args: [...args] }),
    ...(variables.length > 0 && !hasPort && { ports: [...(container.ports ?? []), port] }),
  };
}

/** Containers besides `node` that the runtime wants to have the variables, too. */
function withInjected(container: Container, job: TrainJob, step: ReplicatedJob, runtime: RuntimeSpec): Container {
  const { targets = [] } = runtime.mlPolicy?.torch?.envInjection ?? {};
  const isTarget = targets.some(
    ({ jobName, containerNames }) => jobName === step.name && containerNames.includes(container.name),
  );
  if (!isTarget) return container;
  const trainer = runtime.template.spec.replicatedJobs.find((one) => ancestorOf(one) === "trainer") ?? step;
  const node = trainer.template.spec?.template.spec?.containers.find(({ name }) => name === "node");
  const nodes = countOf(job, trainer, runtime);
  return withVariables(container, policyVariables(runtime, { job, nodes, resources: node?.resources }));
}

/** Variables replace those of the same name in their places. */
function withVariables(container: Container, more: readonly EnvVar[]): Container {
  const env = new Map([...(container.env ?? []), ...more].map((one) => [one.name, one]));
  return env.size > 0 ? { ...container, env: [...env.values()] } : container;
}

type Resources = NonNullable<Container["resources"]>;

function mergedResources(base: Resources = {}, { limits, requests, claims }: Resources = {}): Resources {
  const names = new Set(claims?.map(({ name }) => name));
  const all = [...(base.claims ?? []).filter(({ name }) => !names.has(name)), ...(claims ?? [])];
  return {
    ...((base.limits || limits) && { limits: { ...base.limits, ...limits } }),
    ...((base.requests || requests) && { requests: { ...base.requests, ...requests } }),
    ...(all.length > 0 && { claims: all }),
  };
}
