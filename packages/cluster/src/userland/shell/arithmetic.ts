import { ShellSyntaxError } from "./syntax.ts";

const LEVELS: readonly (readonly string[])[] = [
  ["||"],
  ["&&"],
  ["|"],
  ["^"],
  ["&"],
  ["==", "!="],
  ["<=", ">=", "<", ">"],
  ["<<", ">>"],
  ["+", "-"],
  ["*", "/", "%"],
];
const TOKEN = /(\d+|[A-Za-z_][A-Za-z0-9_]*|\+\+|--|[-+*/%]?=(?!=)|\|\||&&|==|!=|<=|>=|<<|>>|[-+*/%<>!~&|^?:()])\s*/y;
/** The longest expression, in characters, and the most of its parts within one another. */
const LONGEST = 64 * 1024;
const DEEPEST = 200;

/** The variables that an expression reads and sets. */
export interface Variables {
  get(name: string): string | undefined;
  set(name: string, value: string): void;
}

/** The value of `$((…))`. */
export function evaluate(expression: string, variables: Variables): number {
  const tokens = tokensOf(expression);
  let [at, depth] = [0, 0];
  const number = (name: string) => Number.parseInt(variables.get(name) || "0", 10) || 0;
  const deeper = (read: () => number): number => {
    if (depth >= DEEPEST) throw new ShellSyntaxError("arithmetic: expression recursion level exceeded");
    depth++;
    const value = read();
    depth--;
    return value;
  };
  const primary = () => deeper(operand);
  const ternary = () => deeper(choice);
  const operand = (): number => {
    const token = tokens[at++];
    if (token === undefined) throw new ShellSyntaxError("arithmetic syntax error");
    if (token === "(") {
      const value = ternary();
      at++;
      return value;
    }
    if (token === "-") return -primary();
    if (token === "+") return primary();
    if (token === "!") return primary() === 0 ? 1 : 0;
    if (token === "~") return ~primary();
    if (token === "++" || token === "--") {
      const name = tokens[at++] ?? "";
      variables.set(name, String(number(name) + (token === "++" ? 1 : -1)));
      return number(name);
    }
    if (/^\d/.test(token)) return token.startsWith("0") ? Number.parseInt(token, 8) : Number(token);
    if (!/^[A-Za-z_]/.test(token)) throw new ShellSyntaxError("arithmetic syntax error");
    const next = tokens[at];
    if (next === "++" || next === "--") {
      at++;
      const before = number(token);
      variables.set(token, String(before + (next === "++" ? 1 : -1)));
      return before;
    }
    if (next !== undefined && /^[-+*/%]?=$/.test(next)) {
      at++;
      const right = ternary();
      const value = next === "=" ? right : apply(next.slice(0, -1), number(token), right);
      variables.set(token, String(value));
      return value;
    }
    return number(token);
  };
  const binary = (level: number): number => {
    const operators = LEVELS[level];
    if (!operators) return primary();
    let left = binary(level + 1);
    while (operators.includes(tokens[at] ?? "")) left = apply(tokens[at++]!, left, binary(level + 1));
    return left;
  };
  const choice = (): number => {
    const condition = binary(0);
    if (tokens[at] !== "?") return condition;
    at++;
    const yes = ternary();
    at++;
    const no = ternary();
    return condition !== 0 ? yes : no;
  };
  if (tokens.length === 0) return 0;
  const value = ternary();
  if (at < tokens.length) throw new ShellSyntaxError("arithmetic syntax error");
  return value;
}

function tokensOf(expression: string): string[] {
  if (expression.length > LONGEST) throw new ShellSyntaxError("arithmetic: expression is too long");
  const tokens: string[] = [];
  const text = expression.trim();
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    if (!found) throw new ShellSyntaxError(`arithmetic syntax error: ${JSON.stringify(expression)}`);
    tokens.push(found[1]!);
  }
  return tokens;
}

function apply(operator: string, left: number, right: number): number {
  if ((operator === "/" || operator === "%") && right === 0) throw new ShellSyntaxError("divide by zero");
  const results: Record<string, () => number | boolean> = {
    "+": () => left + right,
    "-": () => left - right,
    "*": () => left * right,
    "/": () => Math.trunc(left / right),
    "%": () => left % right,
    "<": () => left < right,
    ">": () => left > right,
    "<=": () => left <= right,
    ">=": () => left >= right,
    "==": () => left === right,
    "!=": () => left !== right,
    "&&": () => left !== 0 && right !== 0,
    "||": () => left !== 0 || right !== 0,
    "&": () => left & right,
    "|": () => left | right,
    "^": () => left ^ right,
    "<<": () => left << right,
    ">>": () => left >> right,
  };
  return Number(results[operator]!());
}
