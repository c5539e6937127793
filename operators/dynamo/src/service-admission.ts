import type { FieldError } from "konverge";
import { admissionWebhook, fieldInvalid, fieldRequired } from "konverge/webhooks";
import { DynamoComponentDeployment } from "./component-deployment.ts";
import type { Service } from "./service-spec.ts";

/** What a CRD's schema cannot say about a service, wherever it is written down. */
export function serviceErrors(path: string, { autoscaling, pvc, multinode }: Service): FieldError[] {
  const errors: FieldError[] = [];
  if (autoscaling && autoscaling.minReplicas > autoscaling.maxReplicas) {
    errors.push(fieldInvalid(`${path}.autoscaling.minReplicas`, autoscaling.minReplicas, "is more than maxReplicas"));
  }
  if (multinode && autoscaling?.enabled) {
    errors.push(fieldInvalid(`${path}.autoscaling`, true, "cannot be combined with multinode"));
  }
  if (pvc && !pvc.create && !pvc.name) {
    errors.push(fieldRequired(`${path}.pvc.name`, "names the existing claim"));
  }
  if (pvc?.mountPoint && pvc.mountPath && pvc.mountPoint !== pvc.mountPath) {
    errors.push(
      fieldInvalid(`${path}.pvc.mountPath`, pvc.mountPath, "is another name of mountPoint: give one of them"),
    );
  }
  return errors;
}

/** Rejects components that could never run: those that a user writes have passed no graph's admission. */
export const componentAdmission = () =>
  admissionWebhook(DynamoComponentDeployment, { validate: ({ spec }) => serviceErrors("spec", spec) });
