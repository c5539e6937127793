/** Whether an API server would take the rules of a CRD's schema. */
import { type FieldError, type Schema, toGoJson, type ValidationRule } from "@konverge/core";
import { forbidden, invalidValue } from "../../structural/field-errors.ts";
import { MOST } from "../cost/estimate-range.ts";
import { escapeName } from "../types/escape.ts";
import { type DataType, dataTypeOf, MOST_BYTES } from "../types/schema-types.ts";
import { type CompiledRule, compileRules } from "./rule-programs.ts";

/** The most that one rule may cost, by estimate. */
export const RULE_COST_LIMIT = 10_000_000n;
/** The most that all rules of a schema may cost together, by estimate. */
export const SCHEMA_COST_LIMIT = 100_000_000n;

/** What else there is to know about a schema. */
export interface CheckRulesOptions {
  /** Where the schema stands in the CRD. */
  path?: string;
  /** Rules that were there before the CRD was changed may be more expensive than new ones. */
  allowsExpensive?: boolean;
}

interface Place {
  readonly schema: Schema;
  readonly path: string;
  readonly isRoot: boolean;
  /** The data's type for rules of a node above. */
  readonly fromAbove?: { readonly type: DataType | undefined };
  /** Whether a node above has rules. */
  readonly isInScope: boolean;
  /** How often this can occur in an object, or undefined when nothing bounds it. */
  readonly most: bigint | undefined;
  /** The outermost list above whose items cannot be matched with what they were before. */
  readonly uncorrelatable?: string;
}

/**
 * What is wrong with the rules of a schema: expressions that do not compile, that can become too expensive, or that
 * compare with `oldSelf` where nothing can be compared. The schema has to be right otherwise.
 */
export function checkRules(schema: Schema, options: CheckRulesOptions = {}): FieldError[] {
  const { path = "openAPIV3Schema" } = options;
  const checker = new RuleChecker(options.allowsExpensive === true);
  checker.visit({ schema, path, isRoot: true, isInScope: false, most: 1n });
  return [...checker.errors, ...checker.totalErrors(path)];
}

class RuleChecker {
  readonly errors: FieldError[] = [];
  readonly #allowsExpensive: boolean;
  #total = 0n;
  #expensive: { path: string; cost: bigint }[] = [];

  constructor(allowsExpensive: boolean) {
    this.#allowsExpensive = allowsExpensive;
  }

  visit(place: Place): void {
    const { schema, path } = place;
    const rules = schema["x-kubernetes-validations"] ?? [];
    const isInScope = place.isInScope || rules.length > 0;
    const isResource = place.isRoot || schema["x-kubernetes-embedded-resource"] === true;
    const type = isInScope ? (place.fromAbove ? place.fromAbove.type : dataTypeOf(schema, isResource)) : undefined;
    const inner = { isRoot: false, isInScope, most: within(schema, place.most), uncorrelatable: place.uncorrelatable };
    const { additionalProperties, items } = schema;
    if (typeof additionalProperties === "object") {
      const fromAbove = type && { type: type.element };
      this.visit({ ...inner, schema: additionalProperties, path: `${path}.additionalProperties`, fromAbove });
    }
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const field = type?.fields?.get(escapeName(name) ?? "");
      const fromAbove = field && { type: field };
      this.visit({ ...inner, schema: property, path: `${path}.properties[${name}]`, fromAbove });
    }
    if (items) {
      const uncorrelatable = inner.uncorrelatable ?? (schema["x-kubernetes-list-type"] === "map" ? undefined : path);
      const fromAbove = type && { type: type.element };
      this.visit({ ...inner, schema: items, path: `${path}.items`, fromAbove, uncorrelatable });
    }
    if (rules.length > 0) this.#checkAt(place, rules, type);
  }

  #checkAt({ schema, path, most, uncorrelatable, fromAbove }: Place, rules: ValidationRule[], type?: DataType): void {
    const at = `${path}.x-kubernetes-validations`;
    if (!type) {
      const why = fromAbove
        ? "failed to convert to declType for CEL validation rules"
        : "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations";
      this.errors.push({ reason: "InternalError", field: at, message: `Internal error: ${why}` });
      return;
    }
    const occurrences = most ?? BigInt(Math.trunc(MOST_BYTES / (type.fewestBytes + 1)));
    for (const [i, compiled] of compileRules(schema, rules, type).entries()) {
      this.#checkRule(`${at}[${i}]`, rules[i]!, compiled, occurrences, uncorrelatable);
    }
  }

  #checkRule(
    path: string,
    rule: ValidationRule,
    compiled: CompiledRule,
    occurrences: bigint,
    uncorrelatable: string | undefined,
  ): void {
    this.#observe(`${path}.rule`, "estimated rule cost", capped(compiled.cost * occurrences));
    if (compiled.error !== undefined) this.errors.push(wrongRule(`${path}.rule`, rule, compiled.error));
    if (compiled.messageError !== undefined)
      this.errors.push(wrongRule(`${path}.messageExpression`, rule, compiled.messageError));
    else if (compiled.message)
      this.#observe(`${path}.messageExpression`, "estimated messageExpression cost", compiled.messageCost);
    if (compiled.usesOldSelf) {
      if (uncorrelatable === undefined) return;
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`;
      this.errors.push(invalidValue(`${path}.rule`, rule.rule, detail));
    } else if (rule.optionalOldSelf !== undefined) {
      const detail = "may not be set if oldSelf is not used in rule";
      this.errors.push(invalidValue(`${path}.optionalOldSelf`, rule.optionalOldSelf, detail));
    }
  }

  #observe(path: string, what: string, cost: bigint): void {
    if (!this.#allowsExpensive && cost > RULE_COST_LIMIT)
      this.errors.push(forbidden(path, tooExpensive(what, cost, RULE_COST_LIMIT)));
    this.#total = capped(this.#total + cost);
    if (cost < SCHEMA_COST_LIMIT / 100n) return;
    this.#expensive.push({ path, cost });
    this.#expensive.sort((a, b) => (a.cost > b.cost ? -1 : a.cost < b.cost ? 1 : 0));
    this.#expensive.length = Math.min(this.#expensive.length, 4);
  }

  totalErrors(path: string): FieldError[] {
    if (this.#total <= SCHEMA_COST_LIMIT) return [];
    const contributed = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
    const what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
    return [
      ...this.#expensive.map(({ path }) => forbidden(path, contributed)),
      forbidden(path, tooExpensive(what, this.#total, SCHEMA_COST_LIMIT)),
    ];
  }
}

const capped = (n: bigint) => (n > MOST ? MOST : n);

/** How often a part of a node's data can occur, if the node itself can occur `most` times. */
function within(schema: Schema, most: bigint | undefined): bigint | undefined {
  if (most === undefined) return undefined;
  const times = (limit: number | undefined) =>
    limit === undefined ? undefined : capped(most * BigInt(Math.max(0, limit)));
  if (schema.type === "array") return times(schema.maxItems);
  const isMap = schema.type === "object" && schema.additionalProperties !== undefined;
  return isMap ? times(schema.maxProperties) : most;
}

function tooExpensive(what: string, cost: bigint, limit: bigint): string {
  const factor = Number(cost) / Number(limit);
  const shown = factor > 100 ? "more than 100x" : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  const advice =
    "try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared";
  return `${what} exceeds budget by factor of ${shown} (${advice})`;
}

/** The API server shows the whole rule, with the names that its fields have in Go. */
function wrongRule(field: string, rule: ValidationRule, detail: string): FieldError {
  const shown = [
    ["Rule", rule.rule],
    ["Message", rule.message ?? ""],
    ["MessageExpression", rule.messageExpression ?? ""],
    ["Reason", rule.reason ?? null],
    ["FieldPath", rule.fieldPath ?? ""],
    ["OptionalOldSelf", rule.optionalOldSelf ?? null],
  ].map(([name, value]) => `"${name}":${toGoJson(value)}`);
  return { reason: "FieldValueInvalid", field, message: `Invalid value: {${shown.join(",")}}: ${detail}` };
}
