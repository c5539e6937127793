import type { FieldError } from "konverge";
import { admissionWebhook, fieldInvalid, fieldRequired } from "konverge/webhooks";
import { RayCluster } from "./ray-cluster.ts";

/** What a CRD's schema cannot say about a cluster. */
export function rayErrors({ spec }: RayCluster): FieldError[] {
  const errors: FieldError[] = [];
  const needImage = (path: string, template: RayCluster["spec"]["headGroupSpec"]["template"]) => {
    const [ray] = template.spec?.containers ?? [];
    if (!ray) errors.push(fieldRequired(`${path}.template.spec.containers`, "the first container runs Ray"));
    else if (!ray.image)
      errors.push(fieldRequired(`${path}.template.spec.containers[0].image`, "an image that contains Ray"));
  };
  needImage("spec.headGroupSpec", spec.headGroupSpec.template);
  for (const [i, group] of (spec.workerGroupSpecs ?? []).entries()) {
    const path = `spec.workerGroupSpecs[${i}]`;
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
