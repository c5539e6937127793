import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Uint, type Value } from "../values/values.ts";
import type { Expr } from "./ast.ts";
import { parseExpression } from "./build-ast.ts";
import { formatIssues } from "./source.ts";

/** An expression without the ids and places of its nodes. */
function shape(expr: Expr): unknown {
  switch (expr.kind) {
    case "literal":
      return ["literal", expr.value];
    case "ident":
      return expr.name;
    case "select":
      return [".", shape(expr.operand), expr.field, expr.testOnly];
    case "call":
      return [expr.fn, expr.target ? shape(expr.target) : null, ...expr.args.map(shape)];
    case "list":
      return ["[]", ...expr.items.map(shape), [...expr.optionals]];
    case "map":
      return ["{}", ...expr.entries.map(({ key, value, optional }) => [shape(key), shape(value), optional])];
    case "struct":
      return [expr.type, ...expr.fields.map(({ name, value, optional }) => [name, shape(value), optional])];
    case "comprehension":
      return ["loop", expr.iterVar, expr.iterVar2 ?? null, ...[expr.range, expr.step, expr.result].map(shape)];
    default:
      return expr.kind;
  }
}

function parsed(text: string): unknown {
  const { ast, issues } = parseExpression(text);
  assert.equal(formatIssues(ast.source, issues), "", text);
  return shape(ast.expr);
}

function literal(text: string): Value {
  const { ast, issues } = parseExpression(text);
  assert.deepEqual(issues, [], text);
  assert.equal(ast.expr.kind, "literal", text);
  return ast.expr.kind === "literal" ? ast.expr.value : null;
}

function complaint(text: string): string {
  const { ast, issues } = parseExpression(text);
  return formatIssues(ast.source, issues);
}

interface Written {
  /** With only the parentheses it needs, and with one around everything. */
  readonly text: string;
  readonly guarded: string;
  /** How tightly its outermost operator binds. */
  readonly level: number;
}

const OPERATORS = [["||"], ["&&"], ["<", "<=", ">", ">=", "==", "!=", "in"], ["+", "-"], ["*", "/", "%"]];

const { expression } = fc.letrec<{ expression: Written }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc
      .constantFrom("a", "b.c", "1", "2u", "1.5", "'x'", "true", "null", "[1, 2]", "{'k': v}", "f(x)", "x.g(1)", "m[0]")
      .map((text) => ({ text, guarded: text, level: 9 })),
    fc
      .tuple(fc.nat({ max: OPERATORS.length - 1 }), fc.nat(), tie("expression"), tie("expression"))
      .map(([level, pick, left, right]) => {
        const operator = OPERATORS[level]![pick % OPERATORS[level]!.length]!;
        // Chains of `&&` and `||` are balanced by the parser, so that only two operands have a shape to rely on.
        const isChain = level < 2;
        const a = left.level > level || (left.level === level && !isChain) ? left.text : `(${left.text})`;
        const b = right.level > level ? right.text : `(${right.text})`;
        return { text: `${a} ${operator} ${b}`, guarded: `(${left.guarded} ${operator} ${right.guarded})`, level };
      }),
    fc.tuple(tie("expression"), tie("expression"), tie("expression")).map(([a, b, c]) => ({
      text: `(${a.text}) ? (${b.text}) : ${c.text}`,
      guarded: `(${a.guarded} ? ${b.guarded} : ${c.guarded})`,
      level: -1,
    })),
    tie("expression").map(({ text, guarded }) => ({ text: `!(${text})`, guarded: `(!${guarded})`, level: 8 })),
  ),
}));

test("operators bind as tightly as CEL says, with or without parentheses", () => {
  fc.assert(fc.property(expression, ({ text, guarded }) => assert.deepEqual(parsed(text), parsed(guarded))));
});

test("white space and comments mean nothing", () => {
  assert.deepEqual(parsed("a\t.b ( 1,\n 2 ) // nothing\n + c"), parsed("a.b(1,2)+c"));
});

test("texts come out of quotes as they went in", () => {
  const quotings = [
    (text: string) => JSON.stringify(text),
    (text: string) => `'${JSON.stringify(text).slice(1, -1).replaceAll("'", "\\'")}'`,
    (text: string) => `"""${JSON.stringify(text).slice(1, -1)}"""`,
    (text: string) => `"${[...text].map((c) => `\\U${c.codePointAt(0)!.toString(16).padStart(8, "0")}`).join("")}"`,
  ];
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.constantFrom(...quotings), (text, quote) => {
      assert.equal(literal(quote(text)), text);
    }),
  );
});

test("bytes come out of quotes as they went in", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const octal = [...bytes].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
      assert.deepEqual(literal(`b'${octal}'`), bytes);
      const hex = [...bytes].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
      assert.deepEqual(literal(`b"${hex}"`), bytes);
    }),
  );
});

test("whole numbers of 64 bits are read exactly, decimal or not", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (number) => {
      assert.equal(literal(String(number)), number);
      const digits = (number < 0n ? -number : number).toString(16);
      assert.equal(literal(`${number < 0n ? "-" : ""}0x${digits}`), number);
    }),
  );
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (number) => {
      assert.deepEqual(literal(`${number}u`), new Uint(number));
    }),
  );
});

test("doubles are read as JavaScript reads them", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 }), (number) => {
      const text = String(number);
      assert.equal(literal(/[.e]/.test(text) ? text : `${text}.0`), number);
    }),
  );
});

test("raw texts keep their backslashes", () => {
  assert.equal(literal(String.raw`r'\d\n'`), String.raw`\d\n`);
  assert.equal(literal("'''a\n'b '''"), "a\n'b ");
});

test("macros become loops", () => {
  assert.deepEqual(parsed("l.exists(x, x)"), ["loop", "x", null, "l", ["_||_", null, "@result", "x"], "@result"]);
  assert.deepEqual(parsed("has(a.b)"), [".", "a", "b", true]);
});

test("errors name the position and point to it", () => {
  assert.equal(
    complaint("a +"),
    "ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | a +\n | ...^",
  );
  assert.match(complaint("a\n  ? b"), /^ERROR: <input>:2:6: /);
});

test("expressions are nested and chained only so deep", () => {
  const nested = (n: number) => complaint(`${"(".repeat(n)}a${")".repeat(n)}`);
  const lists = (n: number) => complaint("[".repeat(n) + "]".repeat(n));
  const chained = (n: number) => complaint(`a${".b".repeat(n)}`);
  const summed = (n: number) => complaint(`1${" + 1".repeat(n)}`);
  for (const [written, deepest, message] of [
    [nested, 249, "expression recursion limit exceeded: 250"],
    [lists, 250, "expression recursion limit exceeded: 250"],
    [chained, 250, "max recursion depth exceeded"],
    [summed, 250, "max recursion depth exceeded"],
  ] as const) {
    assert.equal(written(deepest), "");
    assert.equal(written(deepest + 1), `ERROR: <input>:-1:0: ${message}`);
    assert.equal(written(5000), `ERROR: <input>:-1:0: ${message}`);
  }
});

test("expressions have a maximum length", () => {
  const limit = "expression code point size exceeds limit: size: 100001, limit 100000";
  assert.equal(complaint(`'${"é".repeat(99_998)}'`), "");
  assert.equal(complaint(`'${"é".repeat(99_999)}'`), `ERROR: <input>:-1:0: ${limit}`);
});

test("no text makes the parser fail", () => {
  const tokens = fc.constantFrom(
    ..."a . ? [ ] { } ( ) , : + - * / % ! && || == in 1 2u 0x 'x' b'x' r' \" has all \n é".split(" "),
  );
  fc.assert(
    fc.property(fc.array(tokens, { maxLength: 20 }), (parts) => {
      const { ast, issues } = parseExpression(parts.join(" "));
      formatIssues(ast.source, issues);
    }),
    { numRuns: 500 },
  );
});
