import { append, type FieldError, labelValueErrors, qualifiedNameErrors } from "@konverge/core";
import { invalidValue, notSupported, required } from "@konverge/schema";
import type { Affinity, PodSpec, Toleration, TopologySpreadConstraint } from "../../../codec/objects.ts";
import { labelSelectorErrors } from "../selectors.ts";
import { named } from "./checks.ts";

export const TAINT_EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/** What is wrong with a pod's tolerations. */
export function tolerationErrors(tolerations: readonly Toleration[], field: string): FieldError[] {
  return tolerations.flatMap(({ key = "", operator = "", value = "", effect = "", tolerationSeconds }, index) => {
    const at = `${field}[${index}]`;
    const errors = key === "" ? [] : named(`${at}.key`, key, qualifiedNameErrors(key));
    if (key === "" && operator !== "Exists") {
      const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.push(invalidValue(`${at}.operator`, operator, detail));
    }
    if (tolerationSeconds !== undefined && effect !== "NoExecute") {
      errors.push(invalidValue(`${at}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
    if (operator === "Equal" || operator === "") {
      const details = labelValueErrors(value);
      if (details.length > 0) errors.push(invalidValue(`${at}.operator`, value, details.join(";")));
    } else if (operator === "Exists") {
      const detail = "value must be empty when `operator` is 'Exists'";
      if (value !== "") errors.push(invalidValue(`${at}.operator`, value, detail));
    } else if (operator !== "Lt" && operator !== "Gt") {
      errors.push(notSupported(`${at}.operator`, operator, ["Equal", "Exists"]));
    }
    if (effect !== "" && !TAINT_EFFECTS.includes(effect))
      errors.push(notSupported(`${at}.effect`, effect, TAINT_EFFECTS));
    return errors;
  });
}

type NodeTerms = { matchExpressions?: { key: string; operator: string; values?: string[] }[] }[];

/** What is wrong with where a pod wants to be. */
export function affinityErrors(affinity: Affinity | undefined, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity ?? {};
  const node = `${field}.nodeAffinity`;
  const required_ = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required_) {
    const at = `${node}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
    const terms = (required_.nodeSelectorTerms ?? []) as NodeTerms;
    if (terms.length === 0) errors.push(required(at, "must have at least one node selector term"));
    append(
      errors,
      terms.flatMap((term, index) => nodeTermErrors(term, `${at}[${index}]`)),
    );
  }
  nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution?.forEach(({ weight, preference }, index) => {
    const at = `${node}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
    if (weight <= 0 || weight > 100) errors.push(invalidValue(`${at}.weight`, weight, "must be in the range 1-100"));
    append(errors, nodeTermErrors(preference as NodeTerms[number], `${at}.preference`));
  });
  for (const [name, terms] of [
    ["podAffinity", podAffinity],
    ["podAntiAffinity", podAntiAffinity],
  ] as const) {
    terms?.requiredDuringSchedulingIgnoredDuringExecution?.forEach((term, index) => {
      const at = `${field}.${name}.requiredDuringSchedulingIgnoredDuringExecution[${index}]`;
      append(errors, podTermErrors(term, at));
    });
    terms?.preferredDuringSchedulingIgnoredDuringExecution?.forEach(({ weight, podAffinityTerm }, index) => {
      const at = `${field}.${name}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
      if (weight <= 0 || weight > 100) errors.push(invalidValue(`${at}.weight`, weight, "must be in the range 1-100"));
      append(errors, podTermErrors(podAffinityTerm, `${at}.podAffinityTerm`));
    });
  }
  return errors;
}

function nodeTermErrors({ matchExpressions = [] }: NodeTerms[number], field: string): FieldError[] {
  return matchExpressions.flatMap(({ key, operator, values = [] }, index) => {
    const at = `${field}.matchExpressions[${index}]`;
    const errors: FieldError[] = [];
    if (operator === "In" || operator === "NotIn") {
      if (values.length === 0)
        errors.push(required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
    } else if (operator === "Exists" || operator === "DoesNotExist") {
      if (values.length > 0) {
        const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
        errors.push({ reason: "FieldValueForbidden", field: `${at}.values`, message: `Forbidden: ${detail}` });
      }
    } else if (operator === "Gt" || operator === "Lt") {
      if (values.length !== 1) {
        errors.push(required(`${at}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
      }
    } else errors.push(invalidValue(`${at}.operator`, operator, "not a valid selector operator"));
    return [...errors, ...named(`${at}.key`, key, qualifiedNameErrors(key))];
  });
}

function podTermErrors(term: { topologyKey?: string; labelSelector?: object }, field: string): FieldError[] {
  const { topologyKey = "", labelSelector } = term;
  const errors = labelSelector ? labelSelectorErrors(labelSelector, `${field}.labelSelector`) : [];
  if (topologyKey === "") errors.push(required(`${field}.topologyKey`, "can not be empty"));
  return [...errors, ...named(`${field}.topologyKey`, topologyKey, qualifiedNameErrors(topologyKey))];
}

/** What is wrong with how a pod wants to be spread. */
export function spreadErrors(constraints: PodSpec["topologySpreadConstraints"], field: string): FieldError[] {
  const listed = new Set<string>();
  return (constraints ?? []).flatMap((constraint: TopologySpreadConstraint, index) => {
    const at = `${field}[${index}]`;
    const { maxSkew, topologyKey = "", whenUnsatisfiable = "", labelSelector } = constraint;
    const errors: FieldError[] = [];
    if (maxSkew <= 0) errors.push(invalidValue(`${at}.maxSkew`, maxSkew, "must be greater than zero"));
    if (topologyKey === "") errors.push(required(`${at}.topologyKey`, "can not be empty"));
    else append(errors, named(`${at}.topologyKey`, topologyKey, qualifiedNameErrors(topologyKey)));
    const actions = ["DoNotSchedule", "ScheduleAnyway"];
    if (!actions.includes(whenUnsatisfiable)) {
      errors.push(notSupported(`${at}.whenUnsatisfiable`, whenUnsatisfiable, actions));
    }
    const key = `${topologyKey}, ${whenUnsatisfiable}`;
    if (listed.has(key)) {
      const message = `Duplicate value: "{${key}}"`;
      errors.push({ reason: "FieldValueDuplicate", field: `${at}.{topologyKey, whenUnsatisfiable}`, message });
    }
    listed.add(key);
    if (labelSelector) append(errors, labelSelectorErrors(labelSelector, `${at}.labelSelector`));
    return errors;
  });
}
