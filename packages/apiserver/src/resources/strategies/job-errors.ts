import { append, deepEqual, type FieldError, type LabelSelector, selectsLabels } from "@konverge/core";
import { invalidValue, notSupported, required } from "@konverge/schema";
import type { CronJob, Job, JobSpec } from "../../codec/objects.ts";
import { cronProblem } from "./cron-schedule.ts";
import { immutable, nonNegative, oneOf, optionallyOneOf } from "./pod-spec/checks.ts";
import { labelSelectorErrors } from "./selectors.ts";
import { mismatchErrors, templateErrors } from "./workload-errors.ts";

const COUNTS = [
  "parallelism",
  "completions",
  "activeDeadlineSeconds",
  "backoffLimit",
  "ttlSecondsAfterFinished",
  "backoffLimitPerIndex",
  "maxFailedIndexes",
] as const;

/** What is wrong with a job. */
export function jobErrors({ spec, metadata }: Job): FieldError[] {
  const selector = spec.selector as LabelSelector | undefined;
  return [
    ...(spec.manualSelector || !selector ? [] : generatedErrors(selector, metadata)),
    ...jobSpecErrors(spec, "spec"),
    ...(selector ? labelSelectorErrors(selector, "spec.selector") : [required("spec.selector")]),
    ...mismatchErrors(selector, spec.template, "spec.template"),
  ];
}

/** A selector that was made for the job selects the labels that were made for it, and nothing else. */
function generatedErrors(selector: LabelSelector, { name, uid = "" }: Job["metadata"]): FieldError[] {
  const labels = {
    "controller-uid": uid,
    "job-name": name,
    "batch.kubernetes.io/controller-uid": uid,
    "batch.kubernetes.io/job-name": name,
  };
  if (labelSelectorErrors(selector, "").length > 0 || selectsLabels(selector, labels)) return [];
  return [invalidValue("spec.selector", selector, "`selector` not auto-generated")];
}

function jobSpecErrors(spec: JobSpec, field: string): FieldError[] {
  const errors: FieldError[] = COUNTS.flatMap((name) => nonNegative(`${field}.${name}`, spec[name]));
  const { completionMode = "NonIndexed", completions, backoffLimitPerIndex, maxFailedIndexes, podFailurePolicy } = spec;
  if (maxFailedIndexes !== undefined && backoffLimitPerIndex === undefined) {
    errors.push(required(`${field}.backoffLimitPerIndex`, "when maxFailedIndexes is specified"));
  }
  const modes = ["NonIndexed", "Indexed"];
  append(errors, optionallyOneOf(`${field}.completionMode`, completionMode, modes));
  if (completionMode === "Indexed") {
    if (completions === undefined) errors.push(required(`${field}.completions`, "when completion mode is Indexed"));
    if (completions !== undefined && (maxFailedIndexes ?? 0) > completions) {
      errors.push(
        invalidValue(`${field}.maxFailedIndexes`, maxFailedIndexes, "must be less than or equal to completions"),
      );
    }
  } else if (completionMode === "NonIndexed") {
    for (const name of ["backoffLimitPerIndex", "maxFailedIndexes"] as const) {
      if (spec[name] === undefined) continue;
      errors.push(invalidValue(`${field}.${name}`, spec[name], "requires indexed completion mode"));
    }
  }
  append(errors, templateErrors(spec.template, `${field}.template`));
  const at = `${field}.template.spec.restartPolicy`;
  const policy = spec.template.spec?.restartPolicy ?? "";
  if (policy === "Always" || policy === "") errors.push(required(at, 'valid values: "OnFailure", "Never"'));
  else if (policy !== "OnFailure" && policy !== "Never") errors.push(notSupported(at, policy, ["OnFailure", "Never"]));
  else if (podFailurePolicy && policy !== "Never") {
    errors.push(invalidValue(at, policy, 'only "Never" is supported when podFailurePolicy is specified'));
  }
  return errors;
}

/** What an update of a job may not change. The scheduling directives of a suspended job may still change. */
export function jobUpdateErrors({ spec }: Job, { spec: old, status }: Job): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.completions !== old.completions) append(errors, completionsErrors(spec));
  append(errors, immutable("spec.selector", spec.selector, old.selector));
  const isMovable = old.suspend === true && status?.startTime === undefined;
  const template = isMovable ? comparable(spec) : spec.template;
  if (!deepEqual(template, isMovable ? comparable(old) : old.template)) {
    errors.push(invalidValue("spec.template", spec.template, "field is immutable"));
  }
  for (const name of [
    "completionMode",
    "podFailurePolicy",
    "backoffLimitPerIndex",
    "managedBy",
    "successPolicy",
  ] as const) {
    append(errors, immutable(`spec.${name}`, spec[name], old[name]));
  }
  return errors;
}

function completionsErrors({ completionMode, completions, parallelism }: JobSpec): FieldError[] {
  const isIndexed = completionMode === "Indexed";
  if (isIndexed && completions === parallelism) return [];
  const detail = isIndexed ? "can only be modified in tandem with spec.parallelism" : "field is immutable";
  return [invalidValue("spec.completions", completions ?? null, detail)];
}

function comparable({ template }: JobSpec): unknown {
  const {
    nodeSelector: _selector,
    tolerations: _tolerations,
    schedulingGates: _gates,
    affinity,
    ...spec
  } = template.spec!;
  const { nodeAffinity: _affinity, ...others } = affinity ?? {};
  const containers = (spec.containers ?? []).map(({ resources: _resources, ...container }) => container);
  return { ...spec, containers, affinity: others };
}

/** What is wrong with a cron job. */
export function cronJobErrors({ spec, metadata }: CronJob): FieldError[] {
  const errors: FieldError[] = [];
  const { schedule = "", timeZone } = spec;
  if (schedule === "") errors.push(required("spec.schedule"));
  else {
    const problem = cronProblem(schedule);
    if (problem) errors.push(invalidValue("spec.schedule", schedule, problem));
    if (schedule.includes("TZ")) {
      const detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
      errors.push(invalidValue("spec.schedule", schedule, detail));
    }
  }
  append(errors, nonNegative("spec.startingDeadlineSeconds", spec.startingDeadlineSeconds));
  if (timeZone !== undefined) append(errors, timeZoneErrors(timeZone));
  append(errors, oneOf("spec.concurrencyPolicy", spec.concurrencyPolicy, ["Allow", "Forbid", "Replace"]));
  append(errors, jobSpecErrors(spec.jobTemplate.spec!, "spec.jobTemplate.spec"));
  append(errors, nonNegative("spec.successfulJobsHistoryLimit", spec.successfulJobsHistoryLimit));
  append(errors, nonNegative("spec.failedJobsHistoryLimit", spec.failedJobsHistoryLimit));
  if (metadata.name.length > 52) {
    errors.push(invalidValue("metadata.name", metadata.name, "must be no more than 52 characters"));
  }
  return errors;
}

function timeZoneErrors(zone: string): FieldError[] {
  const field = "spec.timeZone";
  if (zone === "") return [invalidValue(field, zone, "timeZone must be nil or non-empty string")];
  if (zone.toLowerCase() === "local") {
    const detail = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
    return [invalidValue(field, zone, detail)];
  }
  return isZone(zone) ? [] : [invalidValue(field, zone, `unknown time zone ${zone}`)];
}

function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}
