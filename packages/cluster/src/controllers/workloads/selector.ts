import type { LabelSelector } from "@konverge/core";
import type { Deployment } from "@konverge/kinds";

type StoredSelector = Deployment["spec"]["selector"];

/** A selector from a stored object: the server has checked its operators. */
export const selectorOf = (selector: StoredSelector): LabelSelector => selector as LabelSelector;

/** A selector as Go prints it, in messages. */
export function goSelector(selector: Parameters<typeof selectorOf>[0] | undefined): string {
  if (!selector) return "nil";
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const pairs = Object.keys(matchLabels)
    .sort()
    .map((key) => `${key}: ${matchLabels[key]},`);
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`,
  );
  const [labels, rules] = [pairs.join(""), expressions.join("")];
  return `&LabelSelector{MatchLabels:map[string]string{${labels}},MatchExpressions:[]LabelSelectorRequirement{${rules}},}`;
}
