import { deepEqual, type FieldError, type LabelSelector, pathSegmentErrors } from "@konverge/core";
import { forbidden, invalidValue } from "@konverge/schema";
import type { Strategy } from "../strategy.ts";
import type { EndpointSlice, Lease, LimitRange, Node, PodDisruptionBudget, PriorityClass, Stored } from "./objects.ts";
import { labelSelectorErrors } from "./selectors.ts";

export const node: Strategy = {
  createsStatus: true,
  defaults({ spec, status }: Stored<Node>) {
    // The older name is the first of the newer list.
    if (spec?.podCIDR && !spec.podCIDRs?.length) spec.podCIDRs = [spec.podCIDR];
    else if (spec?.podCIDRs?.length && !spec.podCIDR) spec.podCIDR = spec.podCIDRs[0]!;
    if (status?.capacity && !status.allocatable) status.allocatable = { ...status.capacity };
  },
  validateUpdate({ spec }: Stored<Node>, old: Stored<Node>) {
    const errors: FieldError[] = [];
    const before = old.spec ?? {};
    const now = spec ?? {};
    if (before.podCIDR && now.podCIDR !== before.podCIDR) {
      errors.push(forbidden("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid'));
    }
    if (before.providerID && now.providerID !== before.providerID) {
      errors.push(forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid'));
    }
    return errors;
  },
  validateStatusUpdate: () => [],
  fields: ({ spec }: Stored<Node>) => ({ "spec.unschedulable": String(spec?.unschedulable ?? false) }),
};

export const limitRange: Strategy = {
  defaults({ spec }: Stored<LimitRange>) {
    for (const limit of spec?.limits ?? []) {
      if (limit.type !== "Container") continue;
      const limits = { ...limit.max, ...limit.default };
      const requests = { ...limit.min, ...limits, ...limit.defaultRequest };
      if (Object.keys(limits).length > 0) limit.default = limits;
      if (Object.keys(requests).length > 0) limit.defaultRequest = requests;
    }
  },
};

/** Slices count every change of what their readers look at, labels included. */
export const endpointSlice: Strategy = {
  changesGeneration(object: Stored<EndpointSlice>, old: Stored<EndpointSlice>) {
    const seen = ({ metadata, ...rest }: Stored<EndpointSlice>) => {
      const { resourceVersion: _version, managedFields: _fields, generation: _generation, ...others } = metadata;
      return { ...rest, metadata: others };
    };
    return !deepEqual(seen(object), seen(old));
  },
};

interface DeviceRequest {
  exactly?: { allocationMode?: string; count?: number };
  firstAvailable?: { allocationMode?: string; count?: number }[];
}

/** A request for an exact count that says none is for one. */
function countDefaults(spec: unknown): void {
  const { devices } = (spec ?? {}) as { devices?: { requests?: DeviceRequest[] } };
  for (const { exactly, firstAvailable = [] } of devices?.requests ?? []) {
    for (const one of exactly ? [exactly, ...firstAvailable] : firstAvailable) {
      if (one.allocationMode === "ExactCount") one.count ||= 1;
    }
  }
}

export const resourceClaim: Strategy = { defaults: (object) => countDefaults(object["spec"]) };

export const resourceClaimTemplate: Strategy = {
  defaults: (object) => countDefaults((object["spec"] as { spec?: unknown } | undefined)?.spec),
};

export const lease: Strategy = {
  validate({ spec }: Stored<Lease>) {
    const { leaseDurationSeconds: seconds, leaseTransitions: transitions } = spec ?? {};
    return [
      ...(seconds !== undefined && seconds <= 0
        ? [invalidValue("spec.leaseDurationSeconds", seconds, "must be greater than 0")]
        : []),
      ...(transitions !== undefined && transitions < 0
        ? [invalidValue("spec.leaseTransitions", transitions, "must be greater than or equal to 0")]
        : []),
    ];
  },
};

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

export const priorityClass: Strategy = {
  validate({ metadata, value = 0 }: Stored<PriorityClass>) {
    if (value <= HIGHEST_PRIORITY || metadata.name.startsWith("system-")) return [];
    return [forbidden("value", `maximum allowed value of a user defined priority is ${HIGHEST_PRIORITY}`)];
  },
  validateUpdate: (object: Stored<PriorityClass>, old: Stored<PriorityClass>) => [
    ...((object.value ?? 0) === (old.value ?? 0) ? [] : [forbidden("value", "may not be changed in an update.")]),
    ...(object.preemptionPolicy === old.preemptionPolicy
      ? []
      : [invalidValue("preemptionPolicy", object.preemptionPolicy, "field is immutable")]),
  ],
};
