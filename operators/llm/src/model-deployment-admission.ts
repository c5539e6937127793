import { durationMs } from "konverge/time";
import { admissionWebhook, fieldForbidden, fieldInvalid } from "konverge/webhooks";
import { engineOf } from "./engines/engine-of.ts";
import { ModelDeployment } from "./model-deployment.ts";
import { CONFIG_ARGS, usesConfigFile } from "./model-deployment-children.ts";
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
      const errors = servingErrors(spec, spec.model, usesConfigFile(spec) ? CONFIG_ARGS : []);
      const { isMeasured } = engineOf(spec);
      if (!isMeasured && spec.scaling?.toZeroAfter !== undefined)
        errors.push(
          fieldForbidden(
            "spec.scaling.toZeroAfter",
            `${spec.engine} does not report how many requests it gets, so that no one knows when there are none`,
          ),
        );
      if (!isMeasured && sla && spec.load === undefined) {
        warn(`${spec.engine} does not report its load: set spec.load and spec.capacity, or the size does not follow`);
      }
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
