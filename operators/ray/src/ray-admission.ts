import type { FieldError } from "konverge";
import { deepEqual, parseQuantity } from "konverge/objects";
import { parseYaml } from "konverge/schema";
import { admissionWebhook, fieldForbidden, fieldInvalid, fieldRequired } from "konverge/webhooks";
import { ENABLED, isFaultTolerant, STORAGE_NAMESPACE, storageNamespaceOf } from "./gcs-fault-tolerance.ts";
import { authErrors } from "./ray-auth.ts";
import { RayCluster } from "./ray-cluster.ts";
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

/** Refuses jobs that could never run, and changes of those that do. */
export const rayJobAdmission = () =>
  admissionWebhook(RayJob, {
    validate(job, { old, warn }) {
      const { spec } = job;
      if (spec.ttlSecondsAfterFinished > 0 && !spec.shutdownAfterJobFinishes)
        warn("spec.ttlSecondsAfterFinished: no effect while spec.shutdownAfterJobFinishes is not set");
      const errors = rayErrors({ spec: spec.rayClusterSpec }, "spec.rayClusterSpec");
      if (spec.rayClusterSpec.suspend)
        errors.push(fieldInvalid("spec.rayClusterSpec.suspend", true, "suspend the job instead"));
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
