import {
  append,
  type FieldError,
  type IntOrString,
  type LabelSelector,
  matchesLabels,
  percentErrors,
  requirementsOf,
  SelectorError,
} from "@konverge/core";
import { annotationErrors, forbidden, invalidValue, labelErrors, notSupported, required } from "@konverge/schema";
import type { DaemonSet, Deployment, PodTemplateSpec, ReplicaSet, StatefulSet } from "../../codec/objects.ts";
import { podAnnotationErrors } from "./pod-spec/annotations.ts";
import { immutable, nonNegative, oneOf } from "./pod-spec/checks.ts";
import { podSpecErrors } from "./pod-spec/spec-errors.ts";
import { labelSelectorErrors, selectsAll } from "./selectors.ts";

/** What is wrong with a pod template, of any kind. */
export function templateErrors(template: PodTemplateSpec | undefined, field: string): FieldError[] {
  const { metadata = {}, spec } = template ?? {};
  const errors = [
    ...labelErrors(metadata.labels ?? {}, `${field}.labels`),
    ...annotationErrors(metadata.annotations ?? {}, `${field}.annotations`),
    ...(spec ? podAnnotationErrors(metadata.annotations ?? {}, spec, `${field}.annotations`) : []),
    ...(spec ? podSpecErrors(spec, `${field}.spec`) : []),
  ];
  if (spec?.ephemeralContainers?.length) {
    errors.push(forbidden(`${field}.spec.ephemeralContainers`, "ephemeral containers not allowed in pod template"));
  }
  return errors;
}

/** A template's labels must be what the selector selects; no selector selects nothing. */
export function mismatchErrors(
  selector: LabelSelector | undefined,
  template: PodTemplateSpec,
  field: string,
  unreadable?: string,
): FieldError[] {
  const { labels } = template.metadata ?? {};
  if (selector && !isReadable(selector)) {
    return unreadable === undefined ? [] : [invalidValue("spec.selector", selector, unreadable)];
  }
  if (selector && matchesLabels(requirementsOf(selector), labels)) return [];
  return [invalidValue(`${field}.metadata.labels`, labels ?? null, "`selector` does not match template `labels`")];
}

function isReadable(selector: LabelSelector): boolean {
  try {
    requirementsOf(selector);
    return true;
  } catch (error) {
    if (error instanceof SelectorError) return false;
    throw error;
  }
}

function alwaysRestarting(template: PodTemplateSpec, kind: string): FieldError[] {
  const { restartPolicy, activeDeadlineSeconds } = template.spec ?? {};
  const field = "spec.template.spec";
  return [
    ...(restartPolicy === "Always" ? [] : [notSupported(`${field}.restartPolicy`, restartPolicy ?? "", ["Always"])]),
    ...(activeDeadlineSeconds === undefined
      ? []
      : [forbidden(`${field}.activeDeadlineSeconds`, `activeDeadlineSeconds in ${kind} is not Supported`)]),
  ];
}

function selectorErrors(selector: LabelSelector | undefined, kind: string): FieldError[] {
  if (!selector) return [required("spec.selector")];
  const errors = labelSelectorErrors(selector, "spec.selector");
  if (selectsAll(selector))
    errors.push(invalidValue("spec.selector", selector, `empty selector is invalid for ${kind}`));
  return errors;
}

function replicatedTemplate(selector: LabelSelector | undefined, template: PodTemplateSpec): FieldError[] {
  return [
    ...mismatchErrors(selector, template, "spec.template", "invalid label selector"),
    ...(selector && !isReadable(selector)
      ? []
      : [...templateErrors(template, "spec.template"), ...alwaysRestarting(template, "ReplicaSet")]),
  ];
}

export function deploymentErrors({ spec }: Deployment): FieldError[] {
  const selector = spec.selector as LabelSelector | undefined;
  const errors = [
    ...nonNegative("spec.replicas", spec.replicas),
    ...selectorErrors(selector, "deployment"),
    ...replicatedTemplate(selector, spec.template),
    ...strategyErrors(spec.strategy ?? {}),
    ...nonNegative("spec.minReadySeconds", spec.minReadySeconds),
    ...nonNegative("spec.revisionHistoryLimit", spec.revisionHistoryLimit),
  ];
  const deadline = spec.progressDeadlineSeconds;
  if (deadline === undefined) return errors;
  append(errors, nonNegative("spec.progressDeadlineSeconds", deadline));
  if (deadline <= (spec.minReadySeconds ?? 0)) {
    errors.push(invalidValue("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"));
  }
  return errors;
}

function strategyErrors({ type = "", rollingUpdate }: NonNullable<Deployment["spec"]["strategy"]>): FieldError[] {
  const field = "spec.strategy";
  if (type === "Recreate") {
    const detail = "may not be specified when strategy `type` is 'Recreate'";
    return rollingUpdate ? [forbidden(`${field}.rollingUpdate`, detail)] : [];
  }
  if (type !== "RollingUpdate") {
    return [unsupportedStrategy(field, type, rollingUpdate, ["Recreate", "RollingUpdate"])];
  }
  const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate ?? {};
  const at = `${field}.rollingUpdate`;
  const errors = [
    ...intOrPercentErrors(`${at}.maxUnavailable`, maxUnavailable),
    ...intOrPercentErrors(`${at}.maxSurge`, maxSurge),
  ];
  if (isNone(maxUnavailable) && isNone(maxSurge)) {
    errors.push(invalidValue(`${at}.maxUnavailable`, maxUnavailable, "may not be 0 when `maxSurge` is 0"));
  }
  return [...errors, ...atMostAll(`${at}.maxUnavailable`, maxUnavailable)];
}

/** Go shows the strategy with the names that its fields have there. */
function unsupportedStrategy(field: string, type: string, rollingUpdate: unknown, supported: string[]): FieldError {
  const shown = `{"Type":${JSON.stringify(type)},"RollingUpdate":${JSON.stringify(rollingUpdate ?? null)}}`;
  const values = supported.map((value) => JSON.stringify(value)).join(", ");
  return {
    reason: "FieldValueNotSupported",
    field,
    message: `Unsupported value: ${shown}: supported values: ${values}`,
  };
}

export function replicaSetErrors({ spec }: ReplicaSet): FieldError[] {
  const selector = spec.selector as LabelSelector | undefined;
  return [
    ...nonNegative("spec.replicas", spec.replicas),
    ...nonNegative("spec.minReadySeconds", spec.minReadySeconds),
    ...selectorErrors(selector, "deployment"),
    ...replicatedTemplate(selector, spec.template!),
  ];
}

export function daemonSetErrors({ spec }: DaemonSet): FieldError[] {
  const selector = spec.selector as LabelSelector | undefined;
  const { type = "", rollingUpdate } = spec.updateStrategy ?? {};
  return [
    ...(selector ? labelSelectorErrors(selector, "spec.selector") : []),
    ...mismatchErrors(selector, spec.template, "spec.template"),
    ...(selector && selectsAll(selector)
      ? [invalidValue("spec.selector", selector, "empty selector is invalid for daemonset")]
      : []),
    ...templateErrors(spec.template, "spec.template"),
    ...alwaysRestarting(spec.template, "DaemonSet"),
    ...nonNegative("spec.minReadySeconds", spec.minReadySeconds),
    ...(type === "RollingUpdate"
      ? daemonRollingErrors(rollingUpdate ?? {})
      : type === "OnDelete"
        ? []
        : [unsupportedStrategy("spec.updateStrategy", type, rollingUpdate, ["RollingUpdate", "OnDelete"])]),
    ...nonNegative("spec.revisionHistoryLimit", spec.revisionHistoryLimit),
  ];
}

function daemonRollingErrors(rolling: { maxUnavailable?: IntOrString; maxSurge?: IntOrString }): FieldError[] {
  const { maxUnavailable = 0, maxSurge = 0 } = rolling;
  const at = "spec.updateStrategy.rollingUpdate";
  const errors = [
    ...intOrPercentErrors(`${at}.maxUnavailable`, maxUnavailable),
    ...intOrPercentErrors(`${at}.maxSurge`, maxSurge),
    ...atMostAll(`${at}.maxUnavailable`, maxUnavailable),
    ...atMostAll(`${at}.maxSurge`, maxSurge),
  ];
  if (!isNone(maxUnavailable) && !isNone(maxSurge)) {
    errors.push(invalidValue(`${at}.maxSurge`, maxSurge, "may not be set when maxUnavailable is non-zero"));
  }
  if (isNone(maxUnavailable) && isNone(maxSurge)) {
    errors.push(required(`${at}.maxUnavailable`, "cannot be 0 when maxSurge is 0"));
  }
  return errors;
}

const STATEFUL_SET_FIXED =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

const STATEFUL_SET_CHANGEABLE = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
] as const;

export function statefulSetErrors({ spec }: StatefulSet): FieldError[] {
  const selector = spec.selector as LabelSelector | undefined;
  const { type = "", rollingUpdate } = spec.updateStrategy ?? {};
  const errors: FieldError[] = [];
  const policy = spec.podManagementPolicy ?? "";
  if (policy === "") errors.push(required("spec.podManagementPolicy"));
  else if (policy !== "OrderedReady" && policy !== "Parallel") {
    errors.push(invalidValue("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'"));
  }
  if (type === "RollingUpdate") {
    append(errors, nonNegative("spec.updateStrategy.rollingUpdate.partition", rollingUpdate?.partition));
  } else if (type === "OnDelete") {
    const detail = "only allowed for updateStrategy 'RollingUpdate'";
    if (rollingUpdate) errors.push(invalidValue("spec.updateStrategy.rollingUpdate", rollingUpdate, detail));
  } else {
    const shown = `{"Type":${JSON.stringify(type)},"RollingUpdate":${JSON.stringify(rollingUpdate ?? null)}}`;
    const message = `Invalid value: ${shown}: must be 'RollingUpdate' or 'OnDelete'`;
    errors.push({ reason: "FieldValueInvalid", field: "spec.updateStrategy", message });
  }
  const retention = spec.persistentVolumeClaimRetentionPolicy;
  if (retention) {
    const at = "spec.persistentVolumeClaimRetentionPolicy";
    append(errors, oneOf(`${at}.whenDeleted`, retention.whenDeleted, ["Retain", "Delete"]));
    append(errors, oneOf(`${at}.whenScaled`, retention.whenScaled, ["Retain", "Delete"]));
  }
  errors.push(
    ...nonNegative("spec.replicas", spec.replicas),
    ...nonNegative("spec.minReadySeconds", spec.minReadySeconds),
  );
  append(errors, nonNegative("spec.ordinals.start", spec.ordinals?.start));
  append(errors, selectorErrors(selector, "statefulset"));
  append(errors, mismatchErrors(selector, spec.template, "spec.template", ""));
  if (!selector || isReadable(selector)) append(errors, statefulTemplateErrors(spec));
  return [...errors, ...alwaysRestarting(spec.template, "StatefulSet")];
}

/** A real server looks at the template's labels twice here. */
function statefulTemplateErrors(spec: StatefulSet["spec"]): FieldError[] {
  const { labels = {}, annotations = {} } = spec.template.metadata ?? {};
  return [
    ...labelErrors(labels, "spec.template.labels"),
    ...annotationErrors(annotations, "spec.template.annotations"),
    ...templateErrors(withClaims(spec), "spec.template"),
  ];
}

/** The template as pods will have it: with a volume for each claim. */
function withClaims({ template, volumeClaimTemplates = [] }: StatefulSet["spec"]): PodTemplateSpec {
  const claims = (volumeClaimTemplates ?? []).map(({ metadata }) => {
    const { name = "" } = metadata ?? {};
    return { name, persistentVolumeClaim: { claimName: name } };
  });
  const names = new Set(claims.map(({ name }) => name));
  const { subdomain: _subdomain, hostname: _hostname, ...spec } = template.spec!;
  const volumes = [...claims, ...(spec.volumes ?? []).filter(({ name }) => !names.has(name))];
  return { ...template, spec: { ...spec, ...(volumes.length > 0 && { volumes }) } };
}

export function statefulSetUpdateErrors(now: StatefulSet, old: StatefulSet): FieldError[] {
  const fixed = ({ spec }: StatefulSet) => {
    const rest: Record<string, unknown> = { ...spec };
    for (const name of STATEFUL_SET_CHANGEABLE) delete rest[name];
    // The server fills their status in.
    rest["volumeClaimTemplates"] = spec.volumeClaimTemplates?.map(({ status: _status, ...claim }) => claim);
    return rest;
  };
  return immutable("spec", fixed(now), fixed(old)).length > 0 ? [forbidden("spec", STATEFUL_SET_FIXED)] : [];
}

function intOrPercentErrors(field: string, value: IntOrString): FieldError[] {
  if (typeof value === "number") return nonNegative(field, value);
  return percentErrors(value).map((detail) => invalidValue(field, value, detail));
}

function isNone(value: IntOrString): boolean {
  return Number.parseInt(String(value), 10) === 0;
}

function atMostAll(field: string, value: IntOrString): FieldError[] {
  const isMore = typeof value === "string" && Number.parseInt(value, 10) > 100;
  return isMore ? [invalidValue(field, value, "must not be greater than 100%")] : [];
}
