import {
  dns1035LabelErrors,
  dns1123SubdomainErrors,
  type FieldError,
  pathSegmentErrors,
  portNumberErrors,
} from "@konverge/core";
import { invalidValue, notSupported, required } from "@konverge/schema";
import type { APIService, Stored } from "../../codec/objects.ts";
import type { Strategy } from "../definition.ts";

const STATUSES = ["True", "False", "Unknown"];

/** Says which server serves a version of a group; its name is made of both. */
export const apiService: Strategy = {
  nameErrors: (name) => pathSegmentErrors(name),
  prepareForCreate(object: Stored<APIService>, { now }) {
    object.status = object.spec?.service ? {} : { conditions: [localCondition(now)] };
  },
  validate({ metadata, spec }: Stored<APIService>) {
    const { group = "", version = "", groupPriorityMinimum = 0, versionPriority = 0 } = spec ?? {};
    const errors: FieldError[] = [];
    const name = `${version}.${group}`;
    if (pathSegmentErrors(metadata.name).length === 0 && metadata.name !== name) {
      const detail = `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(name)}`;
      errors.push(invalidValue("metadata.name", metadata.name, detail));
    }
    if (group === "" && version !== "v1") {
      errors.push(required("spec.group", "only v1 may have an empty group and it better be legacy kube"));
    }
    if (group !== "") {
      for (const detail of dns1123SubdomainErrors(group)) errors.push(invalidValue("spec.group", group, detail));
    }
    for (const detail of dns1035LabelErrors(version)) errors.push(invalidValue("spec.version", version, detail));
    if (groupPriorityMinimum <= 0 || groupPriorityMinimum > 20000) {
      const detail = "must be positive and less than 20000";
      errors.push(invalidValue("spec.groupPriorityMinimum", groupPriorityMinimum, detail));
    }
    if (versionPriority <= 0 || versionPriority > 1000) {
      errors.push(invalidValue("spec.versionPriority", versionPriority, "must be positive and less than 1000"));
    }
    return [...errors, ...serviceErrors(spec)];
  },
  validateStatusUpdate: ({ status }: Stored<APIService>) =>
    (status?.conditions ?? []).flatMap((condition, index) =>
      STATUSES.includes(condition.status)
        ? []
        : [notSupported(`status.conditions[${index}].status`, condition.status, STATUSES)],
    ),
};

function serviceErrors(spec: APIService["spec"]): FieldError[] {
  const { service, caBundle = "", insecureSkipTLSVerify = false } = spec ?? {};
  const errors: FieldError[] = [];
  if (!service) {
    if (caBundle) {
      const bytes = `${Buffer.from(caBundle, "base64").length} bytes`;
      errors.push(invalidValue("spec.caBundle", bytes, "local APIServices may not have a caBundle"));
    }
    if (insecureSkipTLSVerify) {
      const detail = "local APIServices may not have insecureSkipTLSVerify";
      errors.push(invalidValue("spec.insecureSkipTLSVerify", true, detail));
    }
    return errors;
  }
  if (!service.namespace) errors.push(required("spec.service.namespace"));
  if (!service.name) errors.push(required("spec.service.name"));
  const port = service.port ?? 443;
  const portErrors = portNumberErrors(port);
  if (portErrors.length > 0) {
    errors.push(invalidValue("spec.service.port", port, `port is not valid: ${portErrors.join(", ")}`));
  }
  if (insecureSkipTLSVerify && caBundle) {
    errors.push(invalidValue("spec.insecureSkipTLSVerify", true, "may not be true if caBundle is present"));
  }
  return errors;
}

/** What is served here is always there. */
export function localCondition(now: string) {
  return {
    type: "Available",
    status: "True",
    lastTransitionTime: now,
    reason: "Local",
    message: "Local APIServices are always available",
  };
}
