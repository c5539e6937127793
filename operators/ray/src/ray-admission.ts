import type { FieldError } from "konverge";
import { deepEqual } from "konverge/objects";
import { parseYaml } from "konverge/schema";
import { admissionWebhook, fieldInvalid, fieldRequired } from "konverge/webhooks";
import { RayCluster } from "./ray-cluster.ts";
import { RayJob } from "./ray-job.ts";

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
  for (const [i, group] of (spec.workerGroupSpecs ?? []).entries()) {
    const path = `${at}.workerGroupSpecs[${i}]`;
    needImage(path, group.template);
    if (group.minReplicas > group.maxReplicas) {
      errors.push(
        fieldInvalid(`${path}.minReplicas`, group.minReplicas, `is more than maxReplicas (${group.maxReplicas})`),
      );
    }
  }
  return errors;
}

/** Refuses what could never run. */
export const rayAdmission = () =>
  admissionWebhook(RayCluster, {
    validate(cluster, { warn }) {
      if (cluster.spec.autoscalerOptions && !cluster.spec.enableInTreeAutoscaling)
        warn("spec.autoscalerOptions: no effect while spec.enableInTreeAutoscaling is not set");
      return rayErrors(cluster);
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
