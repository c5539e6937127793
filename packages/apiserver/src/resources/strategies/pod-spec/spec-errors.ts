import {
  append,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  type FieldError,
  qualifiedNameErrors,
} from "@konverge/core";
import { duplicate, forbidden, invalidValue, labelErrors, required } from "@konverge/schema";
import type { Pod, PodSpec } from "../../../codec/objects.ts";
import { isMirror, podAnnotationErrors } from "./annotations.ts";
import { MAX_INT32, named, oneOf, optionallyOneOf, within } from "./checks.ts";
import { containersErrors } from "./containers.ts";
import { requirementErrors } from "./requirements.ts";
import { affinityErrors, spreadErrors, tolerationErrors } from "./scheduling.ts";
import { podSecurityErrors, procMountErrors } from "./security.ts";
import { volumesErrors } from "./volumes.ts";

const DNS_POLICIES = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];

/** All that is wrong with a pod's spec, or with one in a template, in the order in which a real server says it. */
export function podSpecErrors(spec: PodSpec, field: string): FieldError[] {
  const { errors, volumes } = volumesErrors(spec.volumes ?? [], `${field}.volumes`);
  append(errors, claimErrors(spec, field));
  append(errors, containersErrors(spec, field, volumes));
  append(errors, procMountErrors(spec, field));
  if (spec.resources) append(errors, requirementErrors(spec.resources, `${field}.resources`, undefined, "pod"));
  if (spec.hostNetwork) append(errors, hostPortErrors(spec, field));
  append(errors, oneOf(`${field}.restartPolicy`, spec.restartPolicy, ["Always", "OnFailure", "Never"]));
  append(errors, oneOf(`${field}.dnsPolicy`, spec.dnsPolicy, DNS_POLICIES));
  append(errors, labelErrors(spec.nodeSelector ?? {}, `${field}.nodeSelector`));
  append(errors, podSecurityErrors(spec.securityContext, `${field}.securityContext`));
  append(errors, affinityErrors(spec.affinity, `${field}.affinity`));
  if (spec.dnsPolicy === "None" && !spec.dnsConfig?.nameservers?.length) {
    errors.push(
      required(`${field}.dnsConfig.nameservers`, "must provide at least one DNS nameserver when `dnsPolicy` is None"),
    );
  }
  spec.readinessGates?.forEach(({ conditionType }, index) => {
    errors.push(
      ...named(`${field}.readinessGates[${index}].conditionType`, conditionType, qualifiedNameErrors(conditionType)),
    );
  });
  append(errors, gateErrors(spec, `${field}.schedulingGates`));
  append(errors, spreadErrors(spec.topologySpreadConstraints, `${field}.topologySpreadConstraints`));
  return [...errors, ...namesErrors(spec, field)];
}

/** What is wrong with a pod beyond what would be wrong with the same spec in a template. */
export function podErrors(pod: Pod): FieldError[] {
  const { metadata, spec } = pod;
  const errors = podAnnotationErrors(metadata?.annotations ?? {}, spec, "metadata.annotations");
  if (isMirror(pod) && spec.resourceClaims?.length) {
    errors.push(forbidden("", "static pods do not support resource claims"));
  }
  append(errors, podSpecErrors(spec, "spec"));
  if (!spec.serviceAccountName) {
    spec.volumes?.forEach(({ projected }, volume) => {
      projected?.sources?.forEach(({ serviceAccountToken }, source) => {
        const detail = "must not be specified when serviceAccountName is not set";
        const at = `spec.volumes[${volume}].projected.sources[${source}].serviceAccountToken`;
        if (serviceAccountToken) errors.push(forbidden(at, detail));
      });
    });
  }
  for (const list of ["containers", "initContainers"] as const) {
    (spec[list] ?? []).forEach(({ image = "" }, index) => {
      if (image.trim() === image) return;
      errors.push(invalidValue(`spec.${list}[${index}].image`, image, "must not have leading or trailing whitespace"));
    });
  }
  return errors;
}

function claimErrors({ resourceClaims = [] }: PodSpec, field: string): FieldError[] {
  const names = new Set<string>();
  return resourceClaims.flatMap(({ name = "", resourceClaimName, resourceClaimTemplateName }, index) => {
    const at = `${field}.resourceClaims[${index}]`;
    const errors: FieldError[] = [];
    if (name === "") errors.push(required(`${at}.name`));
    else if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    else append(errors, named(`${at}.name`, name, dns1123LabelErrors(name)));
    names.add(name);
    if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined) {
      const given = { name, resourceClaimName, resourceClaimTemplateName };
      errors.push(
        invalidValue(at, given, "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"),
      );
    }
    if (resourceClaimName === undefined && resourceClaimTemplateName === undefined) {
      errors.push(invalidValue(at, { name }, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"));
    }
    return errors;
  });
}

function hostPortErrors(spec: PodSpec, field: string): FieldError[] {
  return (spec.containers ?? []).flatMap(({ ports = [] }, container) =>
    ports.flatMap(({ hostPort, containerPort }, index) =>
      hostPort && hostPort !== containerPort
        ? [
            invalidValue(
              `${field}.containers[${container}].ports[${index}].hostPort`,
              hostPort,
              "must match `containerPort` when `hostNetwork` is true",
            ),
          ]
        : [],
    ),
  );
}

function gateErrors({ schedulingGates = [] }: PodSpec, field: string): FieldError[] {
  const names = new Set<string>();
  return schedulingGates.flatMap(({ name }, index) => {
    const errors = named(`${field}[${index}]`, name, qualifiedNameErrors(name));
    if (names.has(name)) errors.push(duplicate(`${field}[${index}]`, name));
    names.add(name);
    return errors;
  });
}

function namesErrors(spec: PodSpec, field: string): FieldError[] {
  const subdomain = (name: "serviceAccountName" | "nodeName" | "priorityClassName" | "runtimeClassName") => {
    const value = spec[name];
    return value ? named(`${field}.${name}`, value, dns1123SubdomainErrors(value)) : [];
  };
  const label = (name: "hostname" | "subdomain") => {
    const value = spec[name];
    return value ? named(`${field}.${name}`, value, dns1123LabelErrors(value)) : [];
  };
  return [
    ...subdomain("serviceAccountName"),
    ...subdomain("nodeName"),
    ...within(`${field}.activeDeadlineSeconds`, spec.activeDeadlineSeconds, 1, MAX_INT32),
    ...label("hostname"),
    ...label("subdomain"),
    ...tolerationErrors(spec.tolerations ?? [], `${field}.tolerations`),
    ...subdomain("priorityClassName"),
    ...subdomain("runtimeClassName"),
    ...optionallyOneOf(`${field}.preemptionPolicy`, spec.preemptionPolicy, ["PreemptLowerPriority", "Never"]),
  ];
}
