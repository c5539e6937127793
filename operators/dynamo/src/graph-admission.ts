import { admission, type FieldError, fieldInvalid, fieldRequired } from "konverge";
import { DynamoGraphDeployment } from "./graph-deployment.ts";
import { componentName } from "./names.ts";

/** What a CRD's schema cannot say about a graph. */
export function graphErrors({ metadata, spec }: DynamoGraphDeployment): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Map<string, string>();
  for (const [name, service] of Object.entries(spec.services ?? {})) {
    const path = `spec.services[${name}]`;
    const component = componentName(metadata.name, name);
    const other = seen.get(component);
    if (other) errors.push(fieldInvalid(path, name, `is called ${component}, as is the service ${other}`));
    seen.set(component, name);
    const { autoscaling, pvc, multinode } = service;
    if (autoscaling && autoscaling.minReplicas > autoscaling.maxReplicas) {
      errors.push(fieldInvalid(`${path}.autoscaling.minReplicas`, autoscaling.minReplicas, "is more than maxReplicas"));
    }
    if (multinode && autoscaling?.enabled) {
      errors.push(fieldInvalid(`${path}.autoscaling`, true, "cannot be combined with multinode"));
    }
    if (pvc && !pvc.create && !pvc.name) {
      errors.push(fieldRequired(`${path}.pvc.name`, "names the claim that is there already"));
    }
    if (pvc?.mountPoint && pvc.mountPath && pvc.mountPoint !== pvc.mountPath) {
      errors.push(
        fieldInvalid(`${path}.pvc.mountPath`, pvc.mountPath, "is another name of mountPoint: give one of them"),
      );
    }
  }
  const unknown = (spec.restart?.strategy?.order ?? []).filter((name) => spec.services && !(name in spec.services));
  for (const name of unknown)
    errors.push(fieldInvalid("spec.restart.strategy.order", name, "is no service of the graph"));
  return errors;
}

/** Refuses what could never run. */
export const graphAdmission = () => admission(DynamoGraphDeployment, { validate: (graph) => graphErrors(graph) });
