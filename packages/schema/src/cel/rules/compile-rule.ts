/** A single rule, for editors, tests and tools. */
import type { Schema } from "@konverge/core";
import { type Compilation, type Evaluation, evaluate, parseAndCheck, planProgram } from "../evaluation/compile.ts";
import { dataTypeOf } from "../types/schema-types.ts";
import { describeType, type TypeKind } from "../types/types.ts";
import { Optional } from "../values/values.ts";
import { ruleDeclarations } from "./rule-programs.ts";
import { converterOf } from "./schema-values.ts";

/** What else there is to know about a rule. */
export interface CompileRuleOptions {
  /** The schema is of a whole resource: kind, apiVersion and the name are visible even if it does not say so. */
  isResource?: boolean;
  /** `oldSelf` is an optional. */
  optionalOldSelf?: boolean;
  /** What the expression has to give: `bool` as a rule, `string` as a messageExpression. */
  result?: Extract<TypeKind, "bool" | "string"> | "any";
}

/** A rule to evaluate on data. */
export interface RuleProgram {
  evaluate(self: unknown, oldSelf?: unknown, limit?: number): Evaluation;
}

/** Compiles an expression about data of a schema. What is wrong with it is said as an API server would. */
export function compileRule(
  rule: string,
  schema: Schema,
  options: CompileRuleOptions = {},
): { readonly program: RuleProgram; readonly problem?: undefined } | Extract<Compilation, { problem: object }> {
  const { isResource = schema["x-kubernetes-embedded-resource"] === true, result = "bool" } = options;
  const data = dataTypeOf(schema, isResource);
  if (!data) return { problem: { kind: "issues", text: "the schema describes no data that a rule could be about" } };
  const isOptional = options.optionalOldSelf === true;
  const declarations = ruleDeclarations(data, isOptional);
  const checked = parseAndCheck(rule, declarations);
  if ("issues" in checked) return { problem: { kind: "issues", text: checked.issues } };
  const type = checked.checked.types.get(checked.checked.expr.id)!;
  if (result !== "any" && type.kind !== result)
    return { problem: { kind: "issues", text: `must evaluate to ${result} but got ${describeType(type)}` } };
  const planned = planProgram(checked.checked, declarations);
  if (!planned.program) return planned;
  const convert = converterOf(schema, isResource);
  const { program } = planned;
  return {
    program: {
      evaluate(self, oldSelf, limit) {
        const old = oldSelf === undefined ? undefined : convert(oldSelf);
        const before = isOptional ? (old === undefined ? Optional.none : new Optional(old)) : old;
        return evaluate(program, { self: convert(self), oldSelf: before }, limit);
      },
    },
  };
}
