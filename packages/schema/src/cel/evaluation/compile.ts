import { estimateCost } from "../cost/estimate.ts";
import type { Range } from "../cost/estimate-range.ts";
import { AccountingError } from "../cost/runtime-cost.ts";
import { parseExpression } from "../syntax/build-ast.ts";
import { formatIssues } from "../syntax/source.ts";
import { type CheckedAst, check } from "../types/checker.ts";
import type { Declarations } from "../types/declarations.ts";
import type { DataType } from "../types/schema-types.ts";
import type { Type } from "../types/types.ts";
import { CostExceeded } from "../values/limits.ts";
import { isError, type Value } from "../values/values.ts";
import { Frame, type Inputs } from "./frame.ts";
import { checkLiterals } from "./literal-checks.ts";
import { type Plan, plan } from "./plan.ts";
import { PlanError } from "./planned.ts";

/** An expression that has been parsed, checked and planned. It can be evaluated any number of times. */
export interface Program {
  /** The type of its result. */
  readonly type: Type;
  /** The names of the variables that it reads. */
  readonly variables: ReadonlySet<string>;
  readonly plan: Plan;
  readonly ast: CheckedAst;
}

/** What became of an expression: a program, or what is wrong with it. */
export type Compilation =
  | { readonly program: Program; readonly problem?: undefined }
  | { readonly program?: undefined; readonly problem: Problem };

/** Why an expression cannot be evaluated. */
export interface Problem {
  /** Wrong in the text, or in constants that cannot be computed. */
  readonly kind: "issues" | "plan";
  /** As the API server shows it: with places and pointers for issues. */
  readonly text: string;
}

/** Parses and checks an expression. */
export function parseAndCheck(text: string, declarations: Declarations): { checked: CheckedAst } | { issues: string } {
  const { ast, issues: syntax } = parseExpression(text);
  if (syntax.length > 0) return { issues: formatIssues(ast.source, syntax) };
  const { checked, issues } = check(ast, declarations);
  if (issues.length > 0) return { issues: formatIssues(ast.source, issues) };
  const literals = checkLiterals(checked);
  return literals.length > 0 ? { issues: formatIssues(ast.source, literals) } : { checked };
}

/** Plans a checked expression. */
export function planProgram(checked: CheckedAst, declarations: Declarations): Compilation {
  try {
    const names = [...checked.references.values()].flatMap(({ name }) => (name === undefined ? [] : [name]));
    const program: Program = {
      type: checked.types.get(checked.expr.id)!,
      variables: new Set(names.filter((name) => declarations.variables.has(name))),
      plan: plan(checked, declarations),
      ast: checked,
    };
    return { program };
  } catch (error) {
    if (error instanceof PlanError) return { problem: { kind: "plan", text: error.message } };
    throw error;
  }
}

/** Compiles an expression. */
export function compile(text: string, declarations: Declarations): Compilation {
  const result = parseAndCheck(text, declarations);
  return "issues" in result
    ? { problem: { kind: "issues", text: result.issues } }
    : planProgram(result.checked, declarations);
}

/** What a program can cost, given how large its data can be; without that, strings and lists may have any size. */
export function estimate(program: Program, data?: DataType): Range {
  return estimateCost(program.ast, data);
}

/** What came out of an evaluation. */
export interface Evaluation {
  readonly value?: Value;
  /** Why there is no value. */
  readonly error?: string;
  readonly cost: number;
}

/** No expression may cost more than this in one evaluation. */
export const PER_CALL_LIMIT = 1_000_000;

/** Evaluates a program; the error of one that was too expensive begins with `operation cancelled`. */
export function evaluate(program: Program, inputs: Inputs, limit = PER_CALL_LIMIT): Evaluation {
  const frame = new Frame(inputs, program.plan.slots, limit);
  try {
    const value = program.plan.evaluate(frame);
    return isError(value) ? { error: value.message, cost: frame.cost } : { value, cost: frame.cost };
  } catch (error) {
    // JavaScript's own limits, of strings, lists and the stack, are beyond what any cost allows.
    if (error instanceof RangeError) return { error: new CostExceeded().message, cost: frame.cost };
    if (error instanceof CostExceeded) return { error: error.message, cost: frame.cost < 0 ? 2 ** 64 : frame.cost };
    if (error instanceof AccountingError) return { error: `internal error: ${error.message}`, cost: frame.cost };
    throw error;
  }
}
