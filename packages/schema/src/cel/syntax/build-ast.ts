import { Uint, type Value } from "../values/values.ts";
import type { Ast, Expr, MapEntry, StructField } from "./ast.ts";
import { parseDoubleLiteral, parseIntLiteral, parseUintLiteral, unquoteBytes, unquoteString } from "./literals.ts";
import { expandMacro, MacroBuilder, MacroError } from "./macros.ts";
import { parse } from "./parser.ts";
import { type Issue, NO_LOCATION, Source } from "./source.ts";
import { T, type Token } from "./tokens.ts";
import type { Chain, EscapeIdent, LiteralTree, MapTree, Message, OptionalItem, Select, Tree } from "./tree.ts";

/** Words that are fine as field names and wrong as variables. */
const RESERVED = new Set(
  (
    "as break const continue else false for function if import in let loop package namespace null return true var " +
    "void while"
  ).split(" "),
);

const OPERATORS = new Map<number, string>([
  [T.EQUALS, "_==_"],
  [T.NOT_EQUALS, "_!=_"],
  [T.IN, "@in"],
  [T.LESS, "_<_"],
  [T.LESS_EQUALS, "_<=_"],
  [T.GREATER_EQUALS, "_>=_"],
  [T.GREATER, "_>_"],
  [T.PLUS, "_+_"],
  [T.MINUS, "_-_"],
  [T.STAR, "_*_"],
  [T.SLASH, "_/_"],
  [T.PERCENT, "_%_"],
]);

const DEEPEST = 250;
/** Kinds of tree that count toward the depth of an expression. */
const NESTING = new Set(["ternary", "binary", "select", "method", "index"]);

/** Parses an expression and expands its macros. With issues, the AST is not fit for anything. */
export function parseExpression(text: string): { ast: Ast; issues: Issue[] } {
  const source = new Source(text);
  const { tree, issues } = parse(source);
  const builder = new AstBuilder(source, issues);
  const expr = tree ? builder.build(tree) : builder.unspecified();
  return { ast: { source, expr, offsets: builder.offsets }, issues };
}

class TooDeep {}

class AstBuilder {
  readonly offsets = new Map<number, number>();
  readonly #source: Source;
  readonly #issues: Issue[];
  readonly #macros: MacroBuilder;
  #nextId = 1;
  #depth = 0;

  constructor(source: Source, issues: Issue[]) {
    this.#source = source;
    this.#issues = issues;
    this.#macros = new MacroBuilder(
      (offset) => this.#id(offset),
      (id) => this.offsets.get(id),
    );
  }

  build(tree: Tree): Expr {
    try {
      return this.#visit(tree);
    } catch (error) {
      if (!(error instanceof TooDeep)) throw error;
      this.#issues.push({ location: NO_LOCATION, message: "max recursion depth exceeded" });
      return this.unspecified();
    }
  }

  /** Stands for what is missing; without a position it counts as before the first character. */
  unspecified(offset = -1): Expr {
    return { kind: "unspecified", id: this.#id(offset) };
  }

  #id(offset = -1): number {
    this.offsets.set(this.#nextId, offset);
    return this.#nextId++;
  }

  #report(offset: number, message: string): Expr {
    this.#issues.push({ location: this.#source.locate(offset), message });
    return this.unspecified(offset);
  }

  #visit(tree: Tree | undefined): Expr {
    if (!tree) return this.unspecified();
    const isNesting = NESTING.has(tree.kind);
    if (isNesting && ++this.#depth > DEEPEST) throw new TooDeep();
    const expr = this.#make(tree);
    if (isNesting) this.#depth--;
    return expr;
  }

  #make(tree: Tree): Expr {
    switch (tree.kind) {
      case "ternary": {
        const condition = this.#visit(tree.condition);
        const id = this.#id(tree.op.start);
        return this.#call(id, "_?_:_", undefined, [condition, this.#visit(tree.yes), this.#visit(tree.no)]);
      }
      case "or":
      case "and":
        return this.#chain(tree);
      case "binary": {
        const left = this.#visit(tree.left);
        const id = this.#id(tree.op.start);
        return this.#call(id, OPERATORS.get(tree.op.type)!, undefined, [left, this.#visit(tree.right)]);
      }
      case "not":
      case "negate": {
        if (tree.ops.length % 2 === 0) return this.#visit(tree.member);
        const id = this.#id(tree.ops[0]!.start);
        return this.#call(id, tree.kind === "not" ? "!_" : "-_", undefined, [this.#visit(tree.member)]);
      }
      case "select":
        return this.#select(tree);
      case "method": {
        const operand = this.#visit(tree.operand);
        if (!tree.name || !tree.open) return this.unspecified(tree.start.start);
        const id = this.#id(tree.open.start);
        return this.#call(
          id,
          tree.name.text,
          operand,
          tree.args.map((arg) => this.#visit(arg)),
        );
      }
      case "index": {
        const operand = this.#visit(tree.operand);
        if (!tree.op) return this.unspecified(tree.start.start);
        const id = this.#id(tree.op.start);
        return this.#call(id, tree.optional ? "_[?_]" : "_[_]", undefined, [operand, this.#visit(tree.index)]);
      }
      case "ident": {
        const name = this.#name(tree);
        return typeof name === "string" ? { kind: "ident", id: this.#id(tree.name!.start), name } : name;
      }
      case "call": {
        const name = this.#name(tree);
        if (typeof name !== "string") return name;
        const id = this.#id(tree.open!.start);
        return this.#call(
          id,
          name,
          undefined,
          tree.args.map((arg) => this.#visit(arg)),
        );
      }
      case "list": {
        const id = this.#id(tree.op?.start);
        const items = tree.items.map((item) => this.#visit(item.value));
        return { kind: "list", id, items, optionals: optionalIndices(tree.items) };
      }
      case "map":
        return this.#map(tree);
      case "message":
        return this.#message(tree);
      case "literal":
        return this.#literal(tree);
      case "broken":
        if (!tree.isUnary) return this.unspecified();
        return { kind: "literal", id: this.#id(tree.start.start), value: "<<error>>" };
    }
  }

  /** `a && b && c && d` is made a balanced tree: deep ones are slow, and the order of evaluation stays the same. */
  #chain(tree: Chain): Expr {
    const terms = [this.#visit(tree.first)];
    const ids = tree.ops.map((op, i) => {
      terms.push(this.#visit(tree.rest[i]));
      return this.#id(op.start);
    });
    const fn = tree.kind === "or" ? "_||_" : "_&&_";
    const balance = (low: number, high: number): Expr => {
      const middle = Math.floor((low + high + 1) / 2);
      const left = middle === low ? terms[middle]! : balance(low, middle - 1);
      const right = middle === high ? terms[middle + 1]! : balance(middle + 1, high);
      return { kind: "call", id: ids[middle]!, fn, target: undefined, args: [left, right] };
    };
    return balance(0, ids.length - 1);
  }

  #select(tree: Select): Expr {
    const operand = this.#visit(tree.operand);
    if (!tree.name || !tree.op) return this.unspecified(tree.start.start);
    const field = this.#fieldName(tree.name) ?? "";
    if (!tree.optional) return { kind: "select", id: this.#id(tree.op.start), operand, field, testOnly: false };
    const name: Expr = { kind: "literal", id: this.#id(tree.name.start.start), value: field };
    return { kind: "call", id: this.#id(tree.op.start), fn: "_?._", target: undefined, args: [operand, name] };
  }

  #fieldName(ident: EscapeIdent, at = ident.start): string | undefined {
    if (ident.name && !ident.isEscaped) return ident.name.text;
    this.#report(at.start, ident.name ? "unsupported syntax: '`'" : "unsupported ident kind");
    return undefined;
  }

  #name(tree: { start: Token; leadingDot?: Token; name?: Token }): string | Expr {
    if (!tree.name) return this.unspecified(tree.start.start);
    if (RESERVED.has(tree.name.text)) return this.#report(tree.start.start, `reserved identifier: ${tree.name.text}`);
    return (tree.leadingDot ? "." : "") + tree.name.text;
  }

  #map(tree: MapTree): Expr {
    const id = this.#id(tree.op?.start);
    const entries: MapEntry[] = [];
    for (const [i, colon] of tree.colons.entries()) {
      const entryId = this.#id(colon.start);
      const key = tree.keys[i];
      const value = tree.values[i];
      if (!key || !value) return { kind: "map", id, entries: [] };
      const optional = key.optional !== undefined;
      entries.push({ id: entryId, key: this.#visit(key.value), value: this.#visit(value), optional });
    }
    return { kind: "map", id, entries };
  }

  #message(tree: Message): Expr {
    const id = this.#id(tree.op?.start);
    const type = (tree.leadingDot ? "." : "") + tree.names.map(({ text }) => text).join(".");
    const fields: StructField[] = [];
    for (const [i, field] of tree.fields.entries()) {
      const colon = tree.colons[i];
      const value = tree.values[i];
      if (!colon || !value) return { kind: "struct", id, type, fields: [] };
      const fieldId = this.#id(colon.start);
      const name = field.name && this.#fieldName(field.name, tree.fields[0]!.start);
      if (name === undefined) continue;
      fields.push({ id: fieldId, name, value: this.#visit(value), optional: field.optional !== undefined });
    }
    return { kind: "struct", id, type, fields };
  }

  #literal(tree: LiteralTree): Expr {
    const start = tree.start.start;
    const token = tree.token;
    if (!token) return this.unspecified(start);
    const make = (value: Value | undefined, type: string): Expr =>
      value === undefined
        ? this.#report(start, `invalid ${type} literal`)
        : { kind: "literal", id: this.#id(start), value };
    switch (token.type) {
      case T.INT:
        return make(parseIntLiteral(token.text, tree.sign !== undefined), "int");
      case T.UINT: {
        const value = parseUintLiteral(token.text);
        return make(value === undefined ? undefined : new Uint(value), "uint");
      }
      case T.FLOAT:
        return make(parseDoubleLiteral(token.text, tree.sign !== undefined), "double");
      case T.STRING:
        return this.#quoted(start, token.text, unquoteString);
      case T.BYTES:
        return this.#quoted(start, token.text.slice(1), unquoteBytes);
      case T.NULL:
        return { kind: "literal", id: this.#id(start), value: null };
      default:
        return { kind: "literal", id: this.#id(start), value: token.type === T.TRUE };
    }
  }

  #quoted(start: number, text: string, unquote: (text: string) => Value): Expr {
    let value: Value = text;
    try {
      value = unquote(text);
    } catch (error) {
      this.#report(start, (error as Error).message);
    }
    return { kind: "literal", id: this.#id(start), value };
  }

  #call(id: number, fn: string, target: Expr | undefined, args: Expr[]): Expr {
    try {
      const expanded = expandMacro(this.#macros, id, fn, target, args);
      if (expanded) {
        this.#forget(id);
        return expanded;
      }
    } catch (error) {
      if (!(error instanceof MacroError)) throw error;
      const offset = this.offsets.get(error.id) ?? this.offsets.get(id)!;
      this.#forget(id);
      return this.#report(offset, error.message);
    }
    return { kind: "call", id, fn, target, args };
  }

  #forget(id: number): void {
    this.offsets.delete(id);
    if (id === this.#nextId - 1) this.#nextId--;
  }
}

function optionalIndices(items: readonly OptionalItem[]): number[] {
  return items.flatMap((item, i) => (item.optional ? [i] : []));
}
