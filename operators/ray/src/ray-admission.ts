import type { FieldError } from "konverge";
import { deepEqual, dns1035LabelErrors, parseQuantity } from "konverge/objects";
import { parseYaml } from "konverge/schema";
import { parseSchedule } from "konverge/time";
import { admissionWebhook, fieldForbidden, fieldInvalid, fieldRequired } from "konverge/webhooks";
import { ENABLED, isFaultTolerant, STORAGE_NAMESPACE, storageNamespaceOf } from "./gcs-fault-tolerance.ts";
import { authErrors } from "./ray-auth.ts";
import { RayCluster } from "./ray-cluster.ts";
import { RayCronJob, templateOf } from "./ray-cron-job.ts";
import { RayJob } from "./ray-job.ts";
import { networkPolicyErrors } from "./ray-network-policy.ts";
import { RayService } from "./ray-service.ts";

/** What a CRD's schema cannot say about a cluster, whose spec is at `at`. */
export function rayErrors({ spec }: Pick<RayCluster, "spec">, at = "spec"): FieldError[] {
  const errors: FieldError[] = [];
  const needImage = (path: string, template: RayCluster["spec"]["headGroupSpec"]["template"]) => {
    const [ray] = template.spec?.containers ?? [];
    if (!ray) errors.push(fieldRequired(`${path}.template.spec.containers`, "the first container runs Ray"));
    else if (!ray.image)
      errors.push(fieldRequired(`${path}.template.spec.containers[0].image`, "an image that contains Ray"));
  };
  needImage(`${at}.headGroupSpec`, spec.headGroupSpec.template);
  errors.push(...redisErrors(spec, at), ...authErrors(spec, at), ...networkPolicyErrors(spec, at));
  errors.push(...groupErrors(spec.headGroupSpec, `${at}.headGroupSpec`));
  const service = spec.headGroupSpec.headService?.metadata?.name;
  for (const problem of service ? dns1035LabelErrors(service) : [])
    errors.push(fieldInvalid(`${at}.headGroupSpec.headService.metadata.name`, service, problem));
  for (const [i, group] of (spec.workerGroupSpecs ?? []).entries()) {
    const path = `${at}.workerGroupSpecs[${i}]`;
    needImage(path, group.template);
    errors.push(...groupErrors(group, path));
    if (group.minReplicas > group.maxReplicas) {
      errors.push(
        fieldInvalid(`${path}.minReplicas`, group.minReplicas, `is more than maxReplicas (${group.maxReplicas})`),
      );
    }
  }
  return errors;
}

const COUNTED = ["num-cpus", "num-gpus", "memory", "resources"];

/** What a node has is said in one place. */
function groupErrors(
  { resources, rayStartParams }: Pick<RayCluster["spec"]["headGroupSpec"], "resources" | "rayStartParams">,
  at: string,
): FieldError[] {
  const errors: FieldError[] = [];
  const counted = COUNTED.find((name) => rayStartParams[name]);
  if (counted && resources && Object.keys(resources).length > 0)
    errors.push(fieldForbidden(`${at}.rayStartParams[${counted}]`, `set ${at}.resources instead`));
  for (const [name, text] of Object.entries(resources ?? {}))
    try {
      parseQuantity(text);
    } catch (error) {
      errors.push(fieldInvalid(`${at}.resources[${name}]`, text, (error as Error).message));
    }
  if (rayStartParams["labels"]) errors.push(fieldForbidden(`${at}.rayStartParams[labels]`, `set ${at}.labels instead`));
  return errors;
}

/** Redis is configured in one place: a second one would contradict it, or start what nothing cleans up. */
function redisErrors(spec: RayCluster["spec"], at: string): FieldError[] {
  const { gcsFaultToleranceOptions: options, headGroupSpec } = spec;
  const { env = [] } = headGroupSpec.template.spec?.containers[0] ?? {};
  const head = `${at}.headGroupSpec`;
  const errors: FieldError[] = [];
  const refuse = (name: string, parameter: string | undefined, field: string) => {
    const index = env.findIndex((one) => one.name === name);
    const message = `set ${at}.gcsFaultToleranceOptions.${field} instead`;
    if (index >= 0) errors.push(fieldInvalid(`${head}.template.spec.containers[0].env[${index}].name`, name, message));
    if (parameter && headGroupSpec.rayStartParams[parameter])
      errors.push(fieldForbidden(`${head}.rayStartParams[${parameter}]`, message));
  };
  refuse("REDIS_USERNAME", "redis-username", "redisUsername");
  if (!options) return errors;
  refuse("REDIS_PASSWORD", "redis-password", "redisPassword");
  refuse("RAY_REDIS_ADDRESS", undefined, "redisAddress");
  if (!options.redisAddress)
    errors.push(fieldRequired(`${at}.gcsFaultToleranceOptions.redisAddress`, "where the head stores its state"));
  return errors;
}

/** What is wrong with the older, annotated way to fault tolerance. */
function annotationErrors({ metadata, spec }: RayCluster): FieldError[] {
  const { annotations = {} } = metadata;
  const { env = [] } = spec.headGroupSpec.template.spec?.containers[0] ?? {};
  if (spec.gcsFaultToleranceOptions) {
    return [ENABLED, STORAGE_NAMESPACE].flatMap((name) =>
      annotations[name]
        ? [fieldForbidden(`metadata.annotations[${name}]`, "use only spec.gcsFaultToleranceOptions")]
        : [],
    );
  }
  if (annotations[ENABLED]?.toLowerCase() === "true" || !env.some(({ name }) => name === "RAY_REDIS_ADDRESS"))
    return [];
  return [
    fieldRequired(
      "spec.gcsFaultToleranceOptions",
      "RAY_REDIS_ADDRESS in the head's container makes it store its state in Redis",
    ),
  ];
}

/** Refuses what could never run. */
export const rayAdmission = () =>
  admissionWebhook(RayCluster, {
    validate(cluster, { old, warn }) {
      if (cluster.spec.autoscalerOptions && !cluster.spec.enableInTreeAutoscaling)
        warn("spec.autoscalerOptions: no effect while spec.enableInTreeAutoscaling is not set");
      if (old && isFaultTolerant(old) && storageNamespaceOf(old) !== storageNamespaceOf(cluster))
        warn(`keys of ${storageNamespaceOf(old)} stay in Redis: only those of the present namespace are removed`);
      return [...rayErrors(cluster), ...annotationErrors(cluster)];
    },
  });

/** What decides how a job runs: it is the same for all its tries. */
const FIXED = [
  "entrypoint",
  "submissionMode",
  "clusterSelector",
  "rayClusterSpec",
  "runtimeEnvYAML",
  "jobId",
  "metadata",
  "entrypointNumCpus",
  "entrypointNumGpus",
  "entrypointResources",
  "submitterPodTemplate",
  "submitterConfig",
] as const;

/** What of a job contradicts the way in which it runs. */
function jobErrors({ spec }: RayJob): FieldError[] {
  const { rayClusterSpec: cluster, clusterSelector, submissionMode, submitterPodTemplate } = spec;
  const errors: FieldError[] = [];
  const forbid = (field: keyof RayJob["spec"], isSet: unknown, why: string) => {
    if (isSet) errors.push(fieldForbidden(`spec.${field}`, why));
  };
  const hasCommand = submissionMode === "K8sJobMode" && submitterPodTemplate?.spec?.containers?.[0]?.command;
  if (!spec.entrypoint?.trim() && submissionMode !== "InteractiveMode" && !hasCommand)
    errors.push(fieldRequired("spec.entrypoint", "the command of the job"));
  if (clusterSelector) {
    if (!clusterSelector["ray.io/cluster"])
      errors.push(fieldRequired("spec.clusterSelector[ray.io/cluster]", "the name of the cluster"));
    forbid("rayClusterSpec", cluster, "the job runs on the cluster that clusterSelector names");
    forbid("suspend", spec.suspend, "the cluster that clusterSelector names is not the job's to delete");
    forbid("backoffLimit", spec.backoffLimit, "each try needs its own cluster");
    forbid("shutdownAfterJobFinishes", spec.shutdownAfterJobFinishes, "the cluster is not the job's to delete");
    forbid("submissionMode", submissionMode === "SidecarMode", "a head that is there gets no other container");
  } else if (!cluster) errors.push(fieldRequired("spec.rayClusterSpec", "or spec.clusterSelector"));
  else errors.push(...rayErrors({ spec: cluster }, "spec.rayClusterSpec"));
  if (cluster?.suspend) errors.push(fieldInvalid("spec.rayClusterSpec.suspend", true, "suspend the job instead"));
  if (cluster?.authOptions?.enableK8sTokenAuth)
    errors.push(fieldForbidden("spec.rayClusterSpec.authOptions.enableK8sTokenAuth", "a job needs a shared token"));
  if (submissionMode === "InteractiveMode")
    forbid("backoffLimit", spec.backoffLimit, "the operator cannot submit the job again");
  if (submissionMode !== "K8sJobMode") {
    forbid("submitterPodTemplate", submitterPodTemplate, "there is no submitting pod in this mode");
    forbid("submitterConfig", spec.submitterConfig, "there is no submitting pod in this mode");
  }
  const policy = cluster?.headGroupSpec.template.spec?.restartPolicy;
  if (submissionMode === "SidecarMode" && policy && policy !== "Never")
    errors.push(
      fieldInvalid("spec.rayClusterSpec.headGroupSpec.template.spec.restartPolicy", policy, "is Never in SidecarMode"),
    );
  return [...errors, ...deletionErrors(spec)];
}

/** Deletions that contradict each other, or that something else decides. */
function deletionErrors({ deletionStrategy: strategy, ...spec }: RayJob["spec"]): FieldError[] {
  if (!strategy) return [];
  const at = "spec.deletionStrategy";
  const { deletionRules: rules, onSuccess, onFailure } = strategy;
  const errors: FieldError[] = [];
  if (rules ? onSuccess || onFailure : !onSuccess || !onFailure)
    errors.push(fieldInvalid(at, strategy, "has either deletionRules, or onSuccess and onFailure"));
  if (rules && spec.shutdownAfterJobFinishes)
    errors.push(fieldForbidden("spec.shutdownAfterJobFinishes", "the deletion rules decide"));
  for (const [i, { condition }] of (rules ?? []).entries())
    if ((condition.jobStatus === undefined) === (condition.jobDeploymentStatus === undefined))
      errors.push(
        fieldInvalid(`${at}.deletionRules[${i}].condition`, condition, "has either jobStatus or jobDeploymentStatus"),
      );
  const policies = [...(rules ?? []), ...(onSuccess ? [onSuccess] : []), ...(onFailure ? [onFailure] : [])];
  for (const { policy } of policies) {
    if (spec.clusterSelector && (policy === "DeleteCluster" || policy === "DeleteWorkers"))
      errors.push(fieldInvalid(at, policy, "the cluster that clusterSelector names is not the job's to delete"));
    if (policy === "DeleteWorkers" && spec.rayClusterSpec?.enableInTreeAutoscaling)
      errors.push(fieldInvalid(at, policy, "the autoscaler decides about the workers"));
  }
  return errors;
}

/** Refuses jobs that could never run, and changes of those that do. */
export const rayJobAdmission = () =>
  admissionWebhook(RayJob, {
    validate(job, { old, warn }) {
      const { spec } = job;
      if (spec.ttlSecondsAfterFinished > 0 && !spec.shutdownAfterJobFinishes)
        warn("spec.ttlSecondsAfterFinished: no effect while spec.shutdownAfterJobFinishes is not set");
      const errors = jobErrors(job);
      for (const [field, read] of [
        ["runtimeEnvYAML", parseYaml],
        ["entrypointResources", JSON.parse],
      ] as const) {
        const text = spec[field];
        if (text === undefined) continue;
        try {
          read(text);
        } catch (error) {
          errors.push(fieldInvalid(`spec.${field}`, text, (error as Error).message));
        }
      }
      const before = old?.status?.jobDeploymentStatus;
      if (old && before && before !== "Suspended") {
        for (const field of FIXED) {
          // A user who has submitted a job says so here.
          if (field === "jobId" && spec.submissionMode === "InteractiveMode" && !old.spec.jobId) continue;
          if (!deepEqual(old.spec[field], spec[field]))
            errors.push(
              fieldInvalid(
                `spec.${field}`,
                spec[field],
                "cannot change once the job has started, except while it is suspended",
              ),
            );
        }
      }
      return errors;
    },
  });

/** Refuses schedules that nothing can follow, and jobs that could never run. */
export const rayCronJobAdmission = () =>
  admissionWebhook(RayCronJob, {
    validate(cron) {
      const { schedule, timeZone } = cron.spec;
      const errors = jobErrors(templateOf(cron)).map((error) => ({
        ...error,
        field: error.field.replace(/^spec/, "spec.jobTemplate"),
      }));
      if (schedule.includes("TZ"))
        return [...errors, fieldInvalid("spec.schedule", schedule, "set spec.timeZone instead")];
      const refused = (field: string, value: string, read: () => unknown): FieldError[] => {
        try {
          read();
          return [];
        } catch (error) {
          return [fieldInvalid(field, value, (error as Error).message)];
        }
      };
      return [
        ...errors,
        ...refused("spec.schedule", schedule, () => parseSchedule(schedule)),
        ...(timeZone ? refused("spec.timeZone", timeZone, () => parseSchedule("@daily", timeZone)) : []),
      ];
    },
  });

/** Refuses services that could never serve. */
export const rayServiceAdmission = () =>
  admissionWebhook(RayService, {
    validate({ metadata, spec }, { old, warn }) {
      for (const field of ["serviceUnhealthySecondThreshold", "deploymentUnhealthySecondThreshold"] as const)
        if (spec[field] !== undefined) warn(`spec.${field}: no effect`);
      const { rayClusterConfig: cluster, serveService } = spec;
      const errors = rayErrors({ spec: cluster }, "spec.rayClusterConfig");
      if (cluster.suspend)
        errors.push(fieldInvalid("spec.rayClusterConfig.suspend", true, "suspend the service instead"));
      if (cluster.authOptions?.enableK8sTokenAuth)
        errors.push(
          fieldForbidden("spec.rayClusterConfig.authOptions.enableK8sTokenAuth", "a service needs a shared token"),
        );
      if (cluster.headGroupSpec.headService?.metadata?.name)
        errors.push(
          fieldForbidden(
            "spec.rayClusterConfig.headGroupSpec.headService.metadata.name",
            "a cluster and the one that replaces it would share their Service",
          ),
        );
      if (cluster.gcsFaultToleranceOptions?.externalStorageNamespace)
        errors.push(
          fieldForbidden(
            "spec.rayClusterConfig.gcsFaultToleranceOptions.externalStorageNamespace",
            "a cluster and the one that replaces it would share their state",
          ),
        );
      const { namespace } = serveService?.metadata ?? {};
      if (namespace && namespace !== metadata.namespace)
        errors.push(fieldInvalid("spec.serveService.metadata.namespace", namespace, "is not that of the service"));
      if (old && old.spec.managedBy !== spec.managedBy)
        errors.push(fieldInvalid("spec.managedBy", spec.managedBy, "the managedBy field is immutable"));
      return [...errors, ...serveConfigErrors(spec.serveConfigV2)];
    },
  });

/** The configuration has to be a map with a list of applications; Ray Serve checks what is in it. */
function serveConfigErrors(text: string | undefined): FieldError[] {
  if (text === undefined) return [];
  const wrong = (message: string) => [fieldInvalid("spec.serveConfigV2", text, message)];
  try {
    const [config] = parseYaml(text) as [{ applications?: unknown } | null | undefined];
    return Array.isArray(config?.applications) ? [] : wrong("has no list of applications");
  } catch (error) {
    return wrong((error as Error).message);
  }
}
