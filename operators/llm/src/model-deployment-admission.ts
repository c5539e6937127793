import { durationMs } from "konverge/time";
import { admissionWebhook, fieldInvalid } from "konverge/webhooks";
import { ModelDeployment } from "./model-deployment.ts";
import { CONFIGURED_ARGS } from "./model-deployment-children.ts";
import { servingErrors } from "./serving-admission.ts";

/**
 * Refuses what contradicts itself, and warns of promises that cannot be kept. Without it nothing dangerous gets in, since the
 * schema is checked in any case: writes pass while the operator is away.
 */
export function modelDeploymentAdmission() {
  return admissionWebhook(ModelDeployment, {
    failurePolicy: "Ignore",
    validate({ spec }, { warn }) {
      const { sla, capacity } = spec;
      const errors = servingErrors(spec, spec.model, CONFIGURED_ARGS);
      if (sla && durationMs(sla.maxLatency) <= 0) {
        errors.push(fieldInvalid("spec.sla.maxLatency", sla.maxLatency, "must be more than 0"));
      } else if (sla && capacity?.serviceTime && durationMs(capacity.serviceTime) > durationMs(sla.maxLatency)) {
        warn(
          `a single request takes ${capacity.serviceTime}: ${sla.maxLatency} is impossible with any number of replicas`,
        );
      }
      return errors;
    },
  });
}
