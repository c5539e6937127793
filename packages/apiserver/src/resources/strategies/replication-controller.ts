import { append, type FieldError } from "@konverge/core";
import { forbidden, invalidValue, notSupported, required } from "@konverge/schema";
import type { ReplicationController, Stored } from "../../codec/objects.ts";
import type { Strategy } from "../definition.ts";
import { nonNegative } from "./pod-spec/checks.ts";
import { podSpecDefaults } from "./pod-spec/defaults.ts";
import { templateErrors } from "./workload-errors.ts";

type Controller = Stored<ReplicationController>;

/** What ReplicaSets were before: its selector is a plain map, and comes from its template where it is left out. */
export const replicationController: Strategy = {
  defaults({ metadata, spec }: Controller) {
    if (!spec?.template) return;
    podSpecDefaults(spec.template.spec!);
    const { labels } = spec.template.metadata ?? {};
    if (!labels || Object.keys(labels).length === 0) return;
    if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels };
    if (Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels };
  },
  validate({ spec }: Controller) {
    const { minReadySeconds, selector = {}, replicas, template } = spec ?? {};
    const isSelecting = Object.keys(selector).length > 0;
    const errors = [
      ...nonNegative("spec.minReadySeconds", minReadySeconds),
      ...(isSelecting ? [] : [required("spec.selector")]),
      ...nonNegative("spec.replicas", replicas),
    ];
    if (!template) return [...errors, required("spec.template")];
    const { labels } = template.metadata ?? {};
    if (isSelecting && !hasAll(labels ?? {}, selector)) {
      const detail = "`selector` does not match template `labels`";
      errors.push(invalidValue("spec.template.metadata.labels", labels ?? null, detail));
    }
    append(errors, templateErrors(template, "spec.template"));
    const { restartPolicy = "", activeDeadlineSeconds } = template.spec ?? {};
    if (restartPolicy !== "Always") {
      errors.push(notSupported("spec.template.spec.restartPolicy", restartPolicy, ["Always"]));
    }
    if (activeDeadlineSeconds !== undefined) {
      const detail = "activeDeadlineSeconds in ReplicationController is not Supported";
      errors.push(forbidden("spec.template.spec.activeDeadlineSeconds", detail));
    }
    return errors;
  },
  validateStatusUpdate: ({ status }: Controller) => countErrors(status ?? { replicas: 0 }),
  fields: ({ status }: Controller) => ({ "status.replicas": String(status?.replicas ?? 0) }),
};

/** The selector is compared as it is: what is wrong with it is found in the labels that it has to be equal to. */
function hasAll(labels: Record<string, string>, selector: Record<string, string>): boolean {
  return Object.entries(selector).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
}

function countErrors(status: NonNullable<ReplicationController["status"]>): FieldError[] {
  const { replicas = 0, fullyLabeledReplicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  const counts = { replicas, fullyLabeledReplicas, readyReplicas, availableReplicas };
  const errors = Object.entries(counts).flatMap(([name, value]) => nonNegative(`status.${name}`, value));
  append(errors, nonNegative("status.observedGeneration", status.observedGeneration));
  for (const [name, value] of Object.entries(counts)) {
    if (value <= replicas) continue;
    errors.push(invalidValue(`status.${name}`, value, "cannot be greater than status.replicas"));
  }
  if (availableReplicas > readyReplicas) {
    const detail = "cannot be greater than readyReplicas";
    errors.push(invalidValue("status.availableReplicas", availableReplicas, detail));
  }
  return errors;
}
