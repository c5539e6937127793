import { dns1123LabelErrors } from "@konverge/core";
import type { Pod, Stored } from "../../codec/objects.ts";
import type { Strategy } from "../definition.ts";
import { podAnnotationUpdateErrors } from "./pod-spec/annotations.ts";
import { immutable } from "./pod-spec/checks.ts";
import { podDefaults } from "./pod-spec/defaults.ts";
import { qosClass } from "./pod-spec/qos.ts";
import { resizeErrors } from "./pod-spec/resize-errors.ts";
import { podErrors } from "./pod-spec/spec-errors.ts";
import { ephemeralUpdateErrors, podUpdateErrors } from "./pod-spec/updates.ts";
import { podSpecWarnings } from "./pod-spec/warnings.ts";

/** Pods: their phase and quality of service come with them, and little of them can change. */
export const pod: Strategy = {
  defaults: ({ spec }: Stored<Pod>) => podDefaults(spec),
  prepareForCreate(object: Stored<Pod>, { now }) {
    const { spec } = object;
    const conditions = spec.schedulingGates?.length ? { conditions: [{ ...GATED, lastTransitionTime: now }] } : {};
    object.status = { phase: "Pending", qosClass: qosClass(spec), ...conditions };
  },
  prepareForUpdate(object: Stored<Pod>, old: Stored<Pod>, { subresource }) {
    if (subresource === "status") keepServersStatus(object, old);
    if (subresource === "ephemeralcontainers") {
      const { ephemeralContainers } = object.spec;
      object.spec = { ...structuredClone(old.spec), ...(ephemeralContainers && { ephemeralContainers }) };
    }
    if (subresource === "ephemeralcontainers" || subresource === "resize") {
      const { managedFields, resourceVersion } = object.metadata;
      object.metadata = { ...old.metadata, ...(resourceVersion && { resourceVersion }) };
      if (managedFields) object.metadata.managedFields = managedFields;
    }
  },
  validate: (object: Stored<Pod>) => podErrors(object),
  validateUpdate(object: Stored<Pod>, old: Stored<Pod>, { subresource }) {
    if (subresource === "ephemeralcontainers") return ephemeralUpdateErrors(object, old);
    return subresource === "resize" ? resizeErrors(object, old) : podUpdateErrors(object, old);
  },
  validateStatusUpdate: (object: Stored<Pod>, old: Stored<Pod>) => [
    ...podAnnotationUpdateErrors(object, old),
    ...immutable("status.qosClass", object.status?.qosClass, old.status?.qosClass),
  ],
  warnings({ metadata, spec }: Stored<Pod>, _context, old) {
    if (old) return [];
    const problems = dns1123LabelErrors(metadata.name);
    const unfit = `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${problems.join(" ")}]`;
    return [...(problems.length > 0 ? [unfit] : []), ...podSpecWarnings(spec, "spec")];
  },
  resetFields: (subresource) =>
    subresource === "status" ? ["spec", "metadata.deletionTimestamp", "metadata.ownerReferences"] : ["status"],
  gracePeriod({ spec, status }: Stored<Pod>, requested) {
    // A pod that runs nowhere yet, or is at its end, goes at once.
    if (!spec.nodeName || status?.phase === "Failed" || status?.phase === "Succeeded") return 0;
    const period = requested ?? spec.terminationGracePeriodSeconds ?? 0;
    return period < 0 ? 1 : period;
  },
  fields: ({ spec, status }: Stored<Pod>) => ({
    "spec.nodeName": spec.nodeName ?? "",
    "spec.restartPolicy": spec.restartPolicy ?? "",
    "spec.schedulerName": spec.schedulerName ?? "",
    "spec.serviceAccountName": spec.serviceAccountName ?? "",
    "spec.hostNetwork": String(spec.hostNetwork ?? false),
    "status.phase": status?.phase ?? "",
    "status.podIP": status?.podIPs?.[0]?.ip ?? status?.podIP ?? "",
    "status.podIPs": status?.podIPs?.[0]?.ip ?? status?.podIP ?? "",
    "status.nominatedNodeName": status?.nominatedNodeName ?? "",
  }),
};

const GATED = {
  type: "PodScheduled",
  status: "False",
  reason: "SchedulingGated",
  message: "Scheduling is blocked due to non-empty scheduling gates",
};

/** A status update cannot clear the QoS class or the owners of the pod. */
function keepServersStatus(object: Stored<Pod>, old: Stored<Pod>): void {
  const status = { ...object.status };
  const { qosClass: quality, observedGeneration } = old.status ?? {};
  if (!status.qosClass && quality) status.qosClass = quality;
  if (!status.observedGeneration && observedGeneration) status.observedGeneration = observedGeneration;
  object.status = status;
  delete object.metadata.deletionTimestamp;
  if (old.metadata.ownerReferences) object.metadata.ownerReferences = old.metadata.ownerReferences;
  else delete object.metadata.ownerReferences;
}
