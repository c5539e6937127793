import { exceeds64Bits } from "./long-integer.ts";
import { labelValueErrors, qualifiedNameErrors } from "./naming-rules.ts";
import { own } from "./own.ts";
import { quoted } from "./quoted.ts";

/** A label selector in an object. An empty one selects everything; a missing one usually selects nothing. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?: readonly LabelSelectorRequirement[] | undefined;
}

/** One of the expressions of a {@link LabelSelector}. */
export interface LabelSelectorRequirement {
  readonly key: string;
  /** In, NotIn, Exists or DoesNotExist. */
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

/** The operator of a requirement; `exists` and `!` take no values. */
export type LabelOperator = "in" | "notin" | "=" | "==" | "!=" | "exists" | "!" | "gt" | "lt";

/**
 * One requirement on labels. A list requires all of them. Create it with {@link labelRequirement}, which validates it.
 */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

/** A selector that cannot be parsed. The message is Kubernetes'. */
export class SelectorError extends Error {
  override readonly name = "SelectorError";
}

const OPERATORS: Record<string, LabelOperator | undefined> = {
  In: "in",
  NotIn: "notin",
  Exists: "exists",
  DoesNotExist: "!",
} as const satisfies Record<LabelSelectorRequirement["operator"], LabelOperator>;

/** Makes a requirement, or throws a {@link SelectorError} that names everything wrong with it. */
export function labelRequirement(
  key: string,
  operator: LabelOperator,
  values: readonly string[] = [],
): LabelRequirement {
  const errors: string[] = [];
  const invalid = (field: string, value: string, why: string) =>
    errors.push(`${field}: Invalid value: ${value}: ${why}`);
  const keyErrors = qualifiedNameErrors(key);
  if (keyErrors.length > 0) invalid("key", quoted(key), keyErrors.join("; "));
  const listed = values.length === 0 ? "null" : JSON.stringify(values);
  switch (operator) {
    case "in":
    case "notin":
      if (values.length === 0) invalid("values", listed, "for 'in', 'notin' operators, values set can't be empty");
      break;
    case "=":
    case "==":
    case "!=":
      if (values.length !== 1) invalid("values", listed, "exact-match compatibility requires one single value");
      break;
    case "exists":
    case "!":
      if (values.length !== 0) invalid("values", listed, "values set must be empty for exists and does not exist");
      break;
    case "gt":
    case "lt":
      if (values.length !== 1) invalid("values", listed, "for 'Gt', 'Lt' operators, exactly one value is required");
      values.forEach((value, i) => {
        if (parseInt64(value) !== undefined) return;
        invalid(`values[${i}]`, quoted(value), "for 'Gt', 'Lt' operators, the value must be an integer");
      });
      break;
  }
  values.forEach((value, i) => {
    const valueErrors = labelValueErrors(value);
    if (valueErrors.length > 0) invalid(`values[${i}][${key}]`, quoted(value), valueErrors.join("; "));
  });
  if (errors.length > 0) throw new SelectorError(errors.length === 1 ? errors[0] : `[${errors.join(", ")}]`);
  return { key, operator, values };
}

/** The requirements of a selector object, sorted by key; throws a {@link SelectorError} for one that is not valid. */
export function requirementsOf(selector: LabelSelector): LabelRequirement[] {
  const requirements = Object.entries(selector.matchLabels ?? {}).map(([key, value]) =>
    labelRequirement(key, "=", [value]),
  );
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    const known = own(OPERATORS, operator);
    if (!known) throw new SelectorError(`${quoted(operator)} is not a valid label selector operator`);
    requirements.push(labelRequirement(key, known, values));
  }
  return sortLabelRequirements(requirements);
}

/** Whether a selector object selects these labels. A missing selector selects nothing, an empty one everything. */
export function selectsLabels(
  selector: LabelSelector | null | undefined,
  labels: Record<string, string> = {},
): boolean {
  return selector != null && matchesLabels(requirementsOf(selector), labels);
}

/** Whether these labels meet all requirements. */
export function matchesLabels(requirements: readonly LabelRequirement[], labels: Record<string, string> = {}): boolean {
  return requirements.every((requirement) => matches(requirement, labels));
}

function matches({ key, operator, values }: LabelRequirement, labels: Record<string, string>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "in":
    case "=":
    case "==":
      return value !== undefined && values.includes(value);
    case "notin":
    case "!=":
      return value === undefined || !values.includes(value);
    case "exists":
      return value !== undefined;
    case "!":
      return value === undefined;
    case "gt":
    case "lt": {
      const actual = value === undefined ? undefined : parseInt64(value);
      const wanted = parseInt64(values[0] ?? "");
      if (actual === undefined || wanted === undefined) return false;
      return operator === "gt" ? actual > wanted : actual < wanted;
    }
  }
}

/** Requirements as text: `a=b,c!=d,e in (x,y),!f,g`. */
export function formatLabelRequirements(requirements: readonly LabelRequirement[]): string {
  return requirements.map(formatRequirement).join(",");
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  const list = [...values].sort().join(",");
  switch (operator) {
    case "exists":
      return key;
    case "!":
      return `!${key}`;
    case "in":
    case "notin":
      return `${key} ${operator} (${list})`;
    case "gt":
      return `${key}>${list}`;
    case "lt":
      return `${key}<${list}`;
    default:
      return `${key}${operator}${list}`;
  }
}

/** A selector object as the SELECTOR columns of kubectl show it; `<none>` when there is nothing to show. */
export function formatLabelSelector(selector: LabelSelector | null | undefined): string {
  try {
    return formatLabelRequirements(selector ? requirementsOf(selector) : []) || "<none>";
  } catch {
    return "<error>";
  }
}

/** In the order of their keys, as Kubernetes keeps and prints them. */
export function sortLabelRequirements(requirements: LabelRequirement[]): LabelRequirement[] {
  return requirements.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]+$/.test(text) || exceeds64Bits(text)) return undefined;
  const value = BigInt(text);
  return value === BigInt.asIntN(64, value) ? value : undefined;
}
