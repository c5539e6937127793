/** What the rules of a schema say about a value. */
import { type FieldError, quoted, type Schema, type ValidationRule } from "@konverge/core";
import { Correlation } from "../../structural/correlation.ts";
import { duplicate, forbidden, invalidValue, NO_PATH, required } from "../../structural/field-errors.ts";
import type { RuleCheck } from "../../structural/rules.ts";
import { type Evaluation, evaluate } from "../evaluation/compile.ts";
import type { Inputs } from "../evaluation/frame.ts";
import { trimSpace } from "../library/strings.ts";
import { Optional } from "../values/values.ts";
import { previousItems } from "./previous-items.ts";
import type { CompiledRule } from "./rule-programs.ts";
import { type RuleNode, ruleTree } from "./rule-tree.ts";

/** What all rules of an object may cost together. */
export const OBJECT_BUDGET = 10_000_000;

/** How rules are evaluated. */
export interface ValidateRulesOptions {
  /** Where the value stands when it is only part of an object. */
  path?: string;
  /** What the rules may cost together. */
  budget?: number;
  /** Turn errors about what an update leaves as it was into warnings. */
  ratcheting?: boolean;
}

/** What rules had to say. */
export interface RuleFindings {
  readonly errors: FieldError[];
  /** What would be errors if the update had changed anything there. */
  readonly warnings: string[];
  /** What is left of the budget; negative when it was not enough. */
  readonly budget: number;
}

/**
 * Evaluates the rules of a schema on a value. Rules about changes (`oldSelf`) are evaluated where `old` has something to
 * compare with: fields by name, items of map lists by their keys. The value has to be of the types that the schema says.
 */
export function validateRules(
  schema: Schema,
  value: unknown,
  old?: unknown,
  options: ValidateRulesOptions = {},
): RuleFindings {
  const isResource = options.path === undefined || schema["x-kubernetes-embedded-resource"] === true;
  const run = new Run(options.budget ?? OBJECT_BUDGET);
  const tree = ruleTree(schema, isResource);
  const ratcheted = options.ratcheting && old !== undefined && old !== null;
  const unchanged = new Unchanged(ratcheted ? new Correlation(schema, value, old) : undefined, undefined);
  if (tree) run.visit(tree, options.path, value, old, unchanged);
  return run;
}

/** The errors of {@link validateRules}, for a validator that asks for nothing else. */
export const ruleErrors: RuleCheck = (schema, value, old, options) => validateRules(schema, value, old, options).errors;

/** Whether a value, or what is around it where nothing can be matched, is what it was before the update. */
class Unchanged {
  readonly #here: Correlation | undefined;
  readonly #around: Correlation | undefined;

  constructor(here: Correlation | undefined, around: Correlation | undefined) {
    this.#here = here;
    this.#around = around;
  }

  get isTrue(): boolean {
    return (this.#here ?? this.#around)?.isEqual() ?? false;
  }

  /** Inside `allOf` the value itself is not looked at. */
  get around(): Unchanged {
    return new Unchanged(undefined, this.#around);
  }

  field(name: string): Unchanged {
    if (!this.#here) return this;
    // Changes of the version do not show: both objects have been converted to the same one.
    if (!this.#around && (name === "apiVersion" || name === "kind")) return new Unchanged(undefined, undefined);
    return new Unchanged(this.#here.field(name), this.#here);
  }

  item(index: number): Unchanged {
    return this.#here ? new Unchanged(this.#here.item(index), this.#here) : this;
  }
}

const OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run";
const CANCELLED = "operation cancelled: actual cost limit exceeded";
const isNothing = (value: unknown) => value === null || value === undefined;
const join = (path: string | undefined, name: string) => (path === undefined ? name : `${path}.${name}`);

class Run implements RuleFindings {
  readonly errors: FieldError[] = [];
  readonly warnings: string[] = [];
  budget: number;

  constructor(budget: number) {
    this.budget = budget;
  }

  visit(node: RuleNode, path: string | undefined, value: unknown, old: unknown, unchanged: Unchanged): void {
    if (isNothing(value)) return;
    this.#evaluateRules(node, path, value, old, unchanged);
    for (const inner of node.allOf) {
      if (this.budget < 0) return;
      this.visit(inner, path, value, old, unchanged.around);
    }
    if (this.budget < 0) return;
    if (Array.isArray(value)) this.#visitItems(node, path, value, old, unchanged);
    else if (typeof value === "object") this.#visitFields(node, path, value as Record<string, unknown>, old, unchanged);
  }

  #visitItems(node: RuleNode, path: string | undefined, items: unknown[], old: unknown, unchanged: Unchanged): void {
    if (!node.items) return;
    const previous = previousItems(node.schema, old);
    for (const [i, item] of items.entries()) {
      this.visit(node.items, `${path ?? ""}[${i}]`, item, previous(item), unchanged.item(i));
      if (this.budget < 0) return;
    }
  }

  #visitFields(
    node: RuleNode,
    path: string | undefined,
    value: Record<string, unknown>,
    old: unknown,
    unchanged: Unchanged,
  ): void {
    const before = typeof old === "object" && old !== null && !Array.isArray(old) ? (old as typeof value) : {};
    for (const [name, field] of Object.entries(value)) {
      const previous = Object.hasOwn(before, name) ? before[name] : undefined;
      if (node.values) this.visit(node.values, `${path ?? ""}[${name}]`, field, previous, unchanged.field(name));
      if (this.budget < 0) return;
      const property = node.properties.get(name);
      if (property) this.visit(property, join(path, name), field, previous, unchanged.field(name));
      if (this.budget < 0) return;
    }
  }

  #evaluateRules(node: RuleNode, path: string | undefined, value: unknown, old: unknown, unchanged: Unchanged): void {
    const { compiled } = node;
    const type = node.schema.type ?? "";
    const wrong = (detail: string) => void this.errors.push(invalidValue(path ?? NO_PATH, type, detail));
    if (!compiled) {
      wrong("rule compiler initialization error: failed to convert to declType for CEL validation rules");
      return;
    }
    if (compiled.length === 0) return;
    if (this.budget <= 0) {
      wrong(OUT_OF_BUDGET);
      this.budget = -1;
      return;
    }
    const inputs = new RuleInputs(node, value, old, compiled);
    for (const [i, rule] of compiled.entries()) {
      if (rule.error !== undefined) wrong(`rule compile error: ${rule.error}`);
      if (rule.program && !inputs.lacksOld(rule, node.rules[i]!))
        this.#evaluateRule({ rule, spec: node.rules[i]!, inputs, path, type, value, unchanged });
      if (this.budget < 0) return;
    }
  }

  #evaluateRule({ rule, spec, inputs, path, type, value, unchanged }: Evaluated): void {
    const wrong = (detail: string) => void this.errors.push(invalidValue(path ?? NO_PATH, type, detail));
    const result = evaluate(rule.program!, spec.optionalOldSelf ? inputs.optional : inputs.plain);
    if (result.cost > this.budget) {
      wrong(OUT_OF_BUDGET);
      this.budget = -1;
      return;
    }
    this.budget -= result.cost;
    if (result.error !== undefined) {
      const { detail, isLast } = evaluationProblem(result.error, spec);
      wrong(detail);
      if (isLast) this.budget = -1;
      return;
    }
    if (result.value === true) return;
    const at = rule.fieldPath === undefined ? (path ?? NO_PATH) : join(path, rule.fieldPath);
    const report = (error: FieldError) => {
      if (!rule.usesOldSelf && unchanged.isTrue) this.warnings.push(`${error.field}: ${error.message}`);
      else this.errors.push(error);
    };
    const message = rule.message && this.#message(evaluate(rule.message, inputs.plain), spec.messageExpression!);
    if (message?.fatal !== undefined) {
      report(invalidValue(at, type, message.fatal));
      this.budget = -1;
      return;
    }
    const detail = message?.text ?? (spec.message ? trimSpace(spec.message) : `failed rule: ${trimSpace(spec.rule)}`);
    report(failure(at, type, value, detail, spec.reason));
  }

  /** The text that a message expression gives; neither text nor fatal when it gives none that can be shown. */
  #message({ value, error, cost }: Evaluation, expression: string): { text?: string; fatal?: string } {
    if (cost > this.budget) {
      const why = "messageExpression evaluation failed due to running out of cost budget";
      return { fatal: `${why}, no further validation rules will be run` };
    }
    if (error?.startsWith(CANCELLED)) {
      const why = "no further validation rules will be run due to call cost exceeds limit for messageExpression";
      return { fatal: `${why}: ${quoted(expression)}` };
    }
    this.budget -= cost;
    if (typeof value !== "string") return {};
    const text = trimSpace(value);
    const isTooLong = new TextEncoder().encode(text).length > LONGEST_MESSAGE;
    return text === "" || isTooLong || text.includes("\n") ? {} : { text };
  }
}

const LONGEST_MESSAGE = 5 * 1024;

interface Evaluated {
  readonly rule: CompiledRule;
  readonly spec: ValidationRule;
  readonly inputs: RuleInputs;
  readonly path: string | undefined;
  readonly type: string;
  readonly value: unknown;
  readonly unchanged: Unchanged;
}

/** What rules are evaluated with: `self`, and `oldSelf` if any rule beside them asks for it. */
class RuleInputs {
  readonly plain: Inputs;
  /** For rules that are also evaluated when there was nothing before. */
  readonly optional: Inputs;
  readonly #hasOld: boolean;

  constructor(node: RuleNode, value: unknown, old: unknown, rules: readonly CompiledRule[]) {
    const self = node.convert(value);
    this.#hasOld = !isNothing(old);
    if (!rules.some(({ usesOldSelf }) => usesOldSelf)) {
      this.plain = this.optional = { self };
      return;
    }
    const oldSelf = this.#hasOld ? node.convert(old) : undefined;
    this.plain = { self, oldSelf };
    this.optional = { self, oldSelf: oldSelf === undefined ? Optional.none : new Optional(oldSelf) };
  }

  /** Rules about a change have nothing to say where there was nothing before, unless they say so themselves. */
  lacksOld(rule: CompiledRule, spec: ValidationRule): boolean {
    return rule.usesOldSelf && !this.#hasOld && spec.optionalOldSelf !== true;
  }
}

function evaluationProblem(error: string, spec: ValidationRule): { detail: string; isLast: boolean } {
  const rule = trimSpace(spec.message ? spec.message : spec.rule);
  if (error.startsWith("no such overload")) {
    const why = "call arguments did not match a supported operator, function or macro signature for rule";
    return { detail: `'${error}': ${why}: ${rule}`, isLast: false };
  }
  if (error.startsWith(CANCELLED)) {
    const why = "no further validation rules will be run due to call cost exceeds limit for rule";
    return { detail: `'${error}': ${why}: ${rule}`, isLast: true };
  }
  return { detail: `${error} evaluating rule: ${rule}`, isLast: false };
}

/** The error of a rule that does not hold. The values of objects and arrays are not shown. */
function failure(
  field: string,
  type: string,
  value: unknown,
  detail: string,
  reason: ValidationRule["reason"],
): FieldError {
  const isOmitted = type === "object" || type === "array";
  switch (reason) {
    case "FieldValueForbidden":
      return forbidden(field, detail);
    case "FieldValueRequired":
      return required(field, detail);
    case "FieldValueDuplicate":
      return isOmitted ? { reason, field, message: "Duplicate value" } : duplicate(field, value);
    default:
      return isOmitted
        ? { reason: "FieldValueInvalid", field, message: `Invalid value: ${detail}` }
        : invalidValue(field, value, detail);
  }
}
