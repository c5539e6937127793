/** Checks of constants that would otherwise fail on every evaluation. They run once the types are right. */

import { compilePattern } from "../library/regex.ts";
import { checkFormat } from "../library/string-format.ts";
import { type Call, childrenOf, type Expr } from "../syntax/ast.ts";
import { type Issue, NO_LOCATION } from "../syntax/source.ts";
import type { CheckedAst } from "../types/checker.ts";
import { equivalentType, formatType, type Type } from "../types/types.ts";
import { toDuration, toTimestamp } from "../values/convert.ts";
import { CelError, isError, type Value } from "../values/values.ts";

/** Functions whose list argument may mix types, as `"%s %d".format(["a", 1])` does. */
const MIXING = "format";

/** What is wrong with the constants of an expression. */
export function checkLiterals(ast: CheckedAst): Issue[] {
  const issues: Issue[] = [];
  const report = (id: number, message: string) => {
    const offset = ast.offsets.get(id);
    issues.push({ location: offset === undefined ? NO_LOCATION : ast.source.locate(offset), message });
  };
  const calls: Call[] = [];
  const visit = (expr: Expr, mayMix: boolean) => {
    if (!mayMix) checkHomogeneous(ast, expr, report);
    if (expr.kind === "call") calls.push(expr);
    const isMixing = expr.kind === "call" && expr.fn === MIXING;
    for (const child of childrenOf(expr)) visit(child, mayMix || isMixing);
  };
  visit(ast.expr, false);
  for (const [fn, isWrong] of Object.entries(ARGUMENTS)) {
    for (const call of calls) {
      const arg = call.args[0];
      if (call.fn === fn && arg?.kind === "literal" && isWrong(arg.value)) report(arg.id, `invalid ${fn} argument`);
    }
  }
  for (const call of calls) checkFormatCall(ast, call, report);
  return issues;
}

const ARGUMENTS: Record<string, (value: Value) => boolean> = {
  duration: (value) => isError(toDuration(value)),
  timestamp: (value) => isError(toTimestamp(value)),
  matches: (value) => typeof value === "string" && compilePattern(value) instanceof CelError,
};

type Report = (id: number, message: string) => void;

/** All elements of a list, keys of a map and values of a map are of one type each. */
function checkHomogeneous(ast: CheckedAst, expr: Expr, report: Report): void {
  const typeOf = (part: Expr, optional: boolean): Type => {
    const type = ast.types.get(part.id)!;
    return optional ? (type.params[0] ?? type) : type;
  };
  const mismatch = (part: Expr, expected: Type, actual: Type) =>
    report(part.id, `expected type '${formatType(expected)}' but found '${formatType(actual)}'`);
  if (expr.kind === "list") {
    const types = expr.items.map((item, i) => typeOf(item, expr.optionals.includes(i)));
    const wrong = types.findIndex((type) => !equivalentType(types[0]!, type));
    if (wrong >= 0) mismatch(expr.items[wrong]!, types[0]!, types[wrong]!);
  }
  if (expr.kind === "map") {
    const keys = expr.entries.map(({ key }) => ({ part: key, type: typeOf(key, false) }));
    const values = expr.entries.map(({ value, optional }) => ({ part: value, type: typeOf(value, optional) }));
    for (const [i] of expr.entries.entries()) {
      for (const column of [keys, values]) {
        const { part, type } = column[i]!;
        if (!equivalentType(column[0]!.type, type)) mismatch(part, column[0]!.type, type);
      }
    }
  }
}

/** A constant format with a list written out: every clause must fit its argument. */
function checkFormatCall(ast: CheckedAst, call: Call, report: Report): void {
  const [list] = call.args;
  if (call.fn !== "format" || call.target?.kind !== "literal" || typeof call.target.value !== "string") return;
  if (call.args.length !== 1 || list?.kind !== "list") return;
  const problem = checkFormat(call.target.value, list.items, (expr) => ast.types.get(expr.id)!);
  if (problem) report(problem.expr?.id ?? call.id, problem.message);
}
