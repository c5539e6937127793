import type { FieldError } from "konverge";
import { admissionWebhook, fieldInvalid } from "konverge/webhooks";
import { DynamoGraphDeployment } from "./graph-deployment.ts";
import { componentName } from "./names.ts";
import { serviceErrors } from "./service-admission.ts";

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
    errors.push(...serviceErrors(path, { ...service, backendFramework: spec.backendFramework }));
  }
  const unknown = (spec.restart?.strategy?.order ?? []).filter((name) => spec.services && !(name in spec.services));
  for (const name of unknown)
    errors.push(fieldInvalid("spec.restart.strategy.order", name, "is not a service of the graph"));
  return errors;
}

/** Refuses what could never run. */
export const graphAdmission = () =>
  admissionWebhook(DynamoGraphDeployment, { validate: (graph) => graphErrors(graph) });
