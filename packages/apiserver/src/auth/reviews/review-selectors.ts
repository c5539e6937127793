import { labelValueErrors, parseFieldSelector, parseLabelSelector, qualifiedNameErrors, quoted } from "@konverge/core";
import type { ReviewError } from "./review-errors.ts";

/** A selector in an access review. RBAC decides without it, so that it is only checked. */
export interface SelectorAttributes {
  rawSelector?: string;
  requirements?: { key?: string; operator?: string; values?: string[] }[];
}

/** What is wrong with a selector; `field` is its path and distinguishes labels from fields. */
export function selectorErrors(selector: SelectorAttributes | undefined, field: string): ReviewError[] {
  if (!selector) return [];
  const { rawSelector = "", requirements = [] } = selector;
  const errors: ReviewError[] = [];
  if (rawSelector !== "" && requirements.length > 0) {
    const why = "may not specified at the same time as requirements";
    errors.push([`${field}.rawSelector`, `Invalid value: ${quoted(rawSelector)}: ${why}`]);
  }
  if (rawSelector === "" && requirements.length === 0) {
    const why = `when ${field} is specified, requirements or rawSelector is required`;
    errors.push([`${field}.requirements`, `Required value: ${why}`]);
  }
  for (const [i, { key = "", operator = "", values = [] }] of requirements.entries()) {
    const at = `${field}.requirements[${i}]`;
    const ofLabels = field.endsWith("labelSelector");
    if (!ofLabels && key === "") errors.push([`${at}.key`, "Required value: must be specified"]);
    if (["In", "NotIn"].includes(operator) && values.length === 0) {
      errors.push([`${at}.values`, "Required value: must be specified when `operator` is 'In' or 'NotIn'"]);
    }
    if (["Exists", "DoesNotExist"].includes(operator) && values.length > 0) {
      const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
      errors.push([`${at}.values`, `Forbidden: ${why}`]);
    }
    if (!ofLabels) continue;
    for (const why of qualifiedNameErrors(key)) errors.push([`${at}.key`, `Invalid value: ${quoted(key)}: ${why}`]);
    for (const [j, value] of values.entries()) {
      for (const why of labelValueErrors(value)) {
        errors.push([`${at}.values[${j}]`, `Invalid value: ${quoted(value)}: ${why}`]);
      }
    }
  }
  return errors;
}

/** What of the selectors had to be left out of the decision. */
export function evaluationError(
  fields: SelectorAttributes | undefined,
  labels: SelectorAttributes | undefined,
): string {
  const notes: string[] = [];
  const note = (name: string, readable: number, total: number) => {
    if (readable < total) {
      const how = readable > 0 ? "partially ignored" : "ignored";
      notes.push(`spec.resourceAttributes.${name} ${how} due to parse error`);
    }
  };
  const inOne = ({ operator, values }: { operator?: string; values?: string[] }) =>
    (operator === "In" || operator === "NotIn") && values?.length === 1;
  const known = ({ operator = "" }: { operator?: string }) =>
    ["In", "NotIn", "Exists", "DoesNotExist"].includes(operator);
  if (fields?.requirements?.length) {
    note("fieldSelector", fields.requirements.filter(inOne).length, fields.requirements.length);
  } else if (fields?.rawSelector) note("fieldSelector", isReadable(parseFieldSelector, fields.rawSelector), 1);
  if (labels?.requirements?.length) {
    note("labelSelector", labels.requirements.filter(known).length, labels.requirements.length);
  } else if (labels?.rawSelector) note("labelSelector", isReadable(parseLabelSelector, labels.rawSelector), 1);
  return notes.join("; ");
}

function isReadable(parse: (text: string) => unknown, text: string): 0 | 1 {
  try {
    parse(text);
    return 1;
  } catch {
    return 0;
  }
}
