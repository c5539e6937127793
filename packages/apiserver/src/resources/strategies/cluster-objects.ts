import {
  deepEqual,
  dns1123LabelErrors,
  type FieldError,
  type LabelSelector,
  own,
  pathSegmentErrors,
} from "@konverge/core";
import { forbidden, invalidValue, labelErrors, required } from "@konverge/schema";
import type {
  Lease,
  PodDisruptionBudget,
  PriorityClass,
  RuntimeClass,
  Stored,
  Toleration,
} from "../../codec/objects.ts";
import type { Strategy } from "../definition.ts";
import { immutable, named, nonNegative, oneOf } from "./pod-spec/checks.ts";
import { requirementErrors } from "./pod-spec/requirements.ts";
import { tolerationErrors } from "./pod-spec/scheduling.ts";
import { labelSelectorErrors } from "./selectors.ts";

/** Who is to hold a lease is decided by its holders: that the server may decide it is no part of this version. */
export const lease: Strategy = {
  prepareForCreate: ({ spec }: Stored<Lease>) => dropCoordination(spec, undefined),
  prepareForUpdate: ({ spec }: Stored<Lease>, old: Stored<Lease>) => dropCoordination(spec, old.spec),
  validate({ spec }: Stored<Lease>) {
    const { leaseDurationSeconds: seconds, leaseTransitions: transitions } = spec ?? {};
    return [
      ...(seconds !== undefined && seconds <= 0
        ? [invalidValue("spec.leaseDurationSeconds", seconds, "must be greater than 0")]
        : []),
      ...nonNegative("spec.leaseTransitions", transitions),
    ];
  },
};

function dropCoordination(spec: Lease["spec"], old: Lease["spec"] | undefined): void {
  if (!spec) return;
  if (old?.strategy === undefined) delete spec.strategy;
  if (old?.preferredHolder === undefined) delete spec.preferredHolder;
}

export const runtimeClass: Strategy = {
  validate({ handler, overhead, scheduling }: Stored<RuntimeClass>) {
    const { nodeSelector, tolerations = [] } = scheduling ?? {};
    return [
      ...(handler ? named("handler", handler, dns1123LabelErrors(handler)) : [required("handler")]),
      ...(overhead ? requirementErrors({ limits: overhead.podFixed ?? {} }, "overhead") : []),
      ...(nodeSelector ? labelErrors(nodeSelector, "scheduling.nodeSelector") : []),
      ...tolerationErrors(tolerations, "scheduling.tolerations"),
      ...tolerations.flatMap((one, index) => {
        const same = (other: object) => deepEqual(withoutSeconds(other), withoutSeconds(one));
        return tolerations.findIndex(same) < index ? [repeatedToleration(one, `scheduling.tolerations[${index}]`)] : [];
      }),
    ];
  },
  validateChange: ({ handler }: Stored<RuntimeClass>, old: Stored<RuntimeClass>) =>
    immutable("handler", handler, old.handler),
};

function withoutSeconds({ tolerationSeconds: _seconds, ...rest }: Toleration): object {
  return rest;
}

/** Go shows it with the names that its fields have there. */
function repeatedToleration(toleration: Toleration, field: string): FieldError {
  const { key = "", operator = "", value = "", effect = "", tolerationSeconds = null } = toleration;
  const shown = { Key: key, Operator: operator, Value: value, Effect: effect, TolerationSeconds: tolerationSeconds };
  return { reason: "FieldValueDuplicate", field, message: `Duplicate value: ${JSON.stringify(shown)}` };
}

export const podDisruptionBudget: Strategy = {
  nameErrors: (name) => pathSegmentErrors(name),
  validate({ spec }: Stored<PodDisruptionBudget>) {
    const { minAvailable, maxUnavailable, selector } = spec ?? {};
    const errors: FieldError[] = [];
    if (minAvailable !== undefined && maxUnavailable !== undefined) {
      errors.push(bothSet(spec!));
    }
    for (const [name, value] of [
      ["minAvailable", minAvailable],
      ["maxUnavailable", maxUnavailable],
    ] as const) {
      if (typeof value === "number" && value < 0) {
        errors.push(invalidValue(`spec.${name}`, value, "must be greater than or equal to 0"));
      }
    }
    return [...errors, ...(selector ? labelSelectorErrors(selector as LabelSelector, "spec.selector") : [])];
  },
  validateStatusUpdate: () => [],
};

/** Go shows the spec with the names that its fields have there. */
function bothSet(spec: NonNullable<PodDisruptionBudget["spec"]>): FieldError {
  const { minAvailable, selector = null, maxUnavailable, unhealthyPodEvictionPolicy = null } = spec;
  const shown = JSON.stringify({
    MinAvailable: minAvailable,
    Selector: selector,
    MaxUnavailable: maxUnavailable,
    UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy,
  });
  const message = `Invalid value: ${shown}: minAvailable and maxUnavailable cannot be both set`;
  return { reason: "FieldValueInvalid", field: "spec", message };
}

const HIGHEST_PRIORITY = 1_000_000_000;
const SYSTEM = "system-";
const SYSTEM_CLASSES: Record<string, number> = {
  "system-node-critical": 2 * HIGHEST_PRIORITY + 1000,
  "system-cluster-critical": 2 * HIGHEST_PRIORITY,
};

export const priorityClass: Strategy = {
  undeletable: (name) =>
    Object.hasOwn(SYSTEM_CLASSES, name) ? "this is a system priority class and cannot be deleted" : undefined,
  validate(object: Stored<PriorityClass>) {
    const { metadata, value = 0, preemptionPolicy } = object;
    const errors: FieldError[] = [];
    if (metadata.name?.startsWith(SYSTEM)) {
      const problem = systemClassProblem(object);
      const reserved = `priority class names with '${SYSTEM}' prefix are reserved for system use only. error: ${problem}`;
      if (problem) errors.push(forbidden("metadata.name", reserved));
    } else if (value > HIGHEST_PRIORITY) {
      errors.push(forbidden("value", `maximum allowed value of a user defined priority is ${HIGHEST_PRIORITY}`));
    }
    if (preemptionPolicy === undefined) return errors;
    return [...errors, ...oneOf("preemptionPolicy", preemptionPolicy, ["PreemptLowerPriority", "Never"])];
  },
  validateChange: (object: Stored<PriorityClass>, old: Stored<PriorityClass>) => [
    ...((object.value ?? 0) === (old.value ?? 0) ? [] : [forbidden("value", "may not be changed in an update.")]),
    ...immutable("preemptionPolicy", object.preemptionPolicy, old.preemptionPolicy),
  ],
};

function systemClassProblem({
  metadata: { name },
  value = 0,
  globalDefault = false,
}: PriorityClass): string | undefined {
  const known = own(SYSTEM_CLASSES, name);
  if (known === undefined) return `${name} is not a known system priority class`;
  if (known !== value) return `value of ${name} PriorityClass must be ${known}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}
