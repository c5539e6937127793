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
      for (const name of ["maxLatency", "timeToFirstToken", "interTokenLatency", "queueTime"] as const) {
        const value = sla?.[name];
        if (value !== undefined && durationMs(value) <= 0)
          errors.push(fieldInvalid(`spec.sla.${name}`, value, "must be more than 0"));
      }
      const { interval } = spec.rollout?.canary ?? {};
      if (interval !== undefined && durationMs(interval) <= 0)
        errors.push(fieldInvalid("spec.rollout.canary.interval", interval, "must be more than 0"));
      const { maxLatency } = sla ?? {};
      if (maxLatency && capacity?.serviceTime && durationMs(capacity.serviceTime) > durationMs(maxLatency)) {
        warn(`a single request takes ${capacity.serviceTime}: ${maxLatency} is impossible with any number of replicas`);
      }
      return errors;
    },
  });
}
