import { COMPARISONS, FACTORS, type Point, point, pointOfNextRound, TERMS } from "./grammar.ts";
import { tokenize } from "./lexer.ts";
import { GiveUp, type Mismatch, TokenStream } from "./recovery.ts";
import { type Issue, NO_LOCATION, type Source } from "./source.ts";
import { T, type Token } from "./tokens.ts";
import type { EscapeIdent, MapTree, Message, OptionalField, OptionalItem, Tree } from "./tree.ts";

const LONGEST_EXPRESSION = 100_000;

/** Parses an expression. The tree is complete if there are no issues; without a tree, parsing was abandoned. */
export function parse(source: Source): { tree?: Tree; issues: Issue[] } {
  if (source.length > LONGEST_EXPRESSION) {
    const message = `expression code point size exceeds limit: size: ${source.length}, limit ${LONGEST_EXPRESSION}`;
    return { issues: [{ location: NO_LOCATION, message }] };
  }
  const tokens = tokenize(source);
  const parser = new Parser(new TokenStream(source, tokens));
  const tree = parser.run();
  return { tree, issues: [...tokens.issues, ...parser.issues] };
}

const P = (name: string) => point(name);

class Parser {
  readonly #in: TokenStream;

  constructor(tokens: TokenStream) {
    this.#in = tokens;
  }

  get issues(): Issue[] {
    return this.#in.issues;
  }

  run(): Tree | undefined {
    try {
      let tree: Tree | undefined;
      this.#rule("start", () => {
        tree = this.#call(this.#in.from(P("start expr")), this.#expr());
        this.#in.match(T.EOF, P("start end"));
      });
      return tree;
    } catch (error) {
      if (error instanceof GiveUp) return undefined;
      throw error;
    }
  }

  get #next(): number {
    return this.#in.peek().type;
  }

  #rule(name: string, body: () => void): void {
    const depth = this.#in.enter(name);
    try {
      body();
    } catch (error) {
      this.#in.recover(error);
    } finally {
      this.#in.leave(name, depth);
    }
  }

  /** Arguments are evaluated in order: the rule runs after its caller is noted, and with few frames on the stack. */
  #call<R>(_from: Point, result: R): R {
    this.#in.callers.pop();
    return result;
  }

  #expr(): Tree {
    let tree: Tree = this.#broken();
    const depth = this.#in.enter("expr");
    try {
      const start = this.#in.peek();
      tree = this.#call(this.#in.from(P("expr condition")), this.#chain("or"));
      if (this.#next !== T.QUESTION) return tree;
      const ternary: Tree = { kind: "ternary", start, condition: tree, op: this.#in.take() };
      tree = ternary;
      ternary.yes = this.#call(this.#in.from(P("expr yes")), this.#chain("or"));
      this.#in.match(T.COLON, P("expr :"));
      ternary.no = this.#call(this.#in.from(P("expr no")), this.#expr());
    } catch (error) {
      this.#in.recover(error);
    } finally {
      this.#in.leave("expr", depth);
    }
    return tree;
  }

  #operand(kind: "or" | "and"): Tree {
    return kind === "or" ? this.#chain("and") : this.#relation(0);
  }

  #chain(kind: "or" | "and"): Tree {
    let tree: Tree = this.#broken();
    const depth = this.#in.enter(kind);
    try {
      const start = this.#in.peek();
      const first = this.#call(this.#in.from(P(`${kind} first`)), this.#operand(kind));
      tree = first;
      const ops: Token[] = [];
      const rest: Tree[] = [];
      while (this.#next === (kind === "or" ? T.OR : T.AND)) {
        ops.push(this.#in.take());
        tree = { kind, start, first, ops, rest };
        rest.push(this.#call(this.#in.from(P(`${kind} next`)), this.#operand(kind)));
      }
    } catch (error) {
      this.#in.recover(error);
    } finally {
      this.#in.leave(kind, depth);
    }
    return tree;
  }

  #relation(precedence: number): Tree {
    let tree: Tree = this.#broken();
    const depth = this.#in.enter("relation");
    try {
      const start = this.#in.peek();
      tree = this.#call(this.#in.from(P("relation calc")), this.#calc(0));
      while (precedence <= 1 && COMPARISONS.includes(this.#next as never)) {
        const op = this.#in.take();
        const right = this.#call(this.#in.from(P("relation right")), this.#relation(2));
        tree = { kind: "binary", start, left: tree, op, right };
      }
    } catch (error) {
      this.#in.recover(error);
    } finally {
      this.#in.leave("relation", depth);
    }
    return tree;
  }

  #calc(precedence: number): Tree {
    let tree: Tree = this.#broken();
    const depth = this.#in.enter("calc");
    try {
      const start = this.#in.peek();
      tree = this.#call(this.#in.from(P("calc unary")), this.#unary());
      for (;;) {
        const isFactor = precedence <= 2 && FACTORS.includes(this.#next as never);
        if (!isFactor && !(precedence <= 1 && TERMS.includes(this.#next as never))) return tree;
        const op = this.#in.take();
        const right = isFactor
          ? this.#call(this.#in.from(P("calc factor")), this.#calc(3))
          : this.#call(this.#in.from(P("calc term")), this.#calc(2));
        tree = { kind: "binary", start, left: tree, op, right };
      }
    } catch (error) {
      this.#in.recover(error);
    } finally {
      this.#in.leave("calc", depth);
    }
    return tree;
  }

  #unary(): Tree {
    let tree: Tree = { kind: "broken", start: this.#in.peek(), isUnary: true };
    const depth = this.#in.enter("unary");
    try {
      const start = this.#in.peek();
      this.#in.sync(P("unary"));
      if (this.#next === T.EXCLAM) {
        const not: Tree = { kind: "not", start, ops: [] };
        tree = not;
        do {
          not.ops.push(this.#in.take());
          this.#in.syncNextRound(pointOfNextRound("unary nots"));
        } while (this.#next === T.EXCLAM);
        not.member = this.#call(this.#in.from(P("unary not")), this.#member());
      } else if (this.#next === T.MINUS && !this.#isNumber(2)) {
        this.#requireOperandAfterMinus(P("unary"));
        const negate: Tree = { kind: "negate", start, ops: [] };
        tree = negate;
        do {
          negate.ops.push(this.#in.take());
          this.#in.syncNextRound(pointOfNextRound("unary minuses"));
          if (this.#next === T.MINUS) this.#requireOperandAfterMinus(pointOfNextRound("unary minuses"));
          else if (!P("unary minus").before.has(this.#next)) throw this.#noViable(pointOfNextRound("unary minuses"), 1);
        } while (this.#next === T.MINUS);
        negate.member = this.#call(this.#in.from(P("unary minus")), this.#member());
      } else {
        if (!P("unary").before.has(this.#next)) throw this.#noViable(P("unary"), 1);
        tree = this.#call(this.#in.from(P("unary plain")), this.#member());
      }
    } catch (error) {
      this.#in.recover(error);
    } finally {
      this.#in.leave("unary", depth);
    }
    return tree;
  }

  #isNumber(n: number): boolean {
    const { type } = this.#in.peek(n);
    return type === T.INT || type === T.FLOAT;
  }

  #requireOperandAfterMinus(at: Point): void {
    const { type } = this.#in.peek(2);
    const isOperand = type !== T.EXCLAM && P("unary").before.has(type);
    if (!isOperand) throw this.#noViable(at, 2);
  }

  #noViable(at: Point, tokens: number): Mismatch {
    return this.#in.noViableAlternative(at, this.#in.peek(), this.#in.peek(tokens));
  }

  #member(): Tree {
    let tree: Tree = this.#broken();
    const depth = this.#in.enter("member");
    try {
      const start = this.#in.peek();
      tree = this.#call(this.#in.from(P("member primary")), this.#primary());
      while (this.#next === T.DOT || this.#next === T.LBRACKET) {
        const operand: Tree = tree;
        const second = this.#in.peek(2).type;
        if (this.#next === T.LBRACKET) this.#index(start, operand, (made) => (tree = made));
        else if (second === T.IDENTIFIER && this.#in.peek(3).type === T.LPAREN)
          this.#method(start, operand, (made) => (tree = made));
        else if (second === T.IDENTIFIER || second === T.ESCAPED_IDENTIFIER || second === T.QUESTION)
          this.#select(start, operand, (made) => (tree = made));
        else throw this.#noViable(P("member more"), 2);
      }
    } catch (error) {
      this.#in.recover(error);
    } finally {
      this.#in.leave("member", depth);
    }
    return tree;
  }

  /* These three hand over their node before it is whole, so that an error in the middle leaves what there is. */

  #select(start: Token, operand: Tree, made: (tree: Tree) => void): void {
    const select: Tree = { kind: "select", start, operand };
    made(select);
    select.op = this.#in.match(T.DOT, P("select ."));
    this.#in.sync(P("select optional"));
    if (this.#next === T.QUESTION) select.optional = this.#in.take();
    select.name = this.#call(this.#in.from(P("select name")), this.#escapeIdent());
  }

  #method(start: Token, operand: Tree, made: (tree: Tree) => void): void {
    const method: Tree = { kind: "method", start, operand, args: [] };
    made(method);
    this.#in.match(T.DOT, P("method ."));
    method.name = this.#in.match(T.IDENTIFIER, P("method name"));
    method.open = this.#in.match(T.LPAREN, P("method ("));
    this.#in.sync(P("method args?"));
    if (P("method args").before.has(this.#next))
      this.#call(this.#in.from(P("method args")), this.#exprList(method.args));
    this.#in.match(T.RPAREN, P("method )"));
  }

  #index(start: Token, operand: Tree, made: (tree: Tree) => void): void {
    const index: Tree = { kind: "index", start, operand };
    made(index);
    index.op = this.#in.match(T.LBRACKET, P("index ["));
    this.#in.sync(P("index optional"));
    if (this.#next === T.QUESTION) index.optional = this.#in.take();
    index.index = this.#call(this.#in.from(P("index value")), this.#expr());
    this.#in.match(T.RBRACKET, P("index ]"));
  }

  #primary(): Tree {
    let tree: Tree = this.#broken();
    const depth = this.#in.enter("primary");
    try {
      const start = this.#in.peek();
      this.#in.sync(P("primary"));
      switch (this.#next) {
        case T.LPAREN:
          this.#in.take();
          tree = this.#call(this.#in.from(P("nested expr")), this.#expr());
          this.#in.match(T.RPAREN, P("nested )"));
          return tree;
        case T.LBRACKET: {
          const items: OptionalItem[] = [];
          tree = { kind: "list", start, op: this.#in.take(), items };
          this.#in.sync(P("list items?"));
          if (P("list items").before.has(this.#next)) this.#call(this.#in.from(P("list items")), this.#listInit(items));
          this.#close("list", T.RBRACKET, "]");
          return tree;
        }
        case T.LBRACE: {
          const map: MapTree = { kind: "map", start, op: this.#in.take(), keys: [], colons: [], values: [] };
          tree = map;
          this.#in.sync(P("map entries?"));
          if (P("map entries").before.has(this.#next)) this.#call(this.#in.from(P("map entries")), this.#mapInit(map));
          this.#close("map", T.RBRACE, "}");
          return tree;
        }
        case T.DOT:
        case T.IDENTIFIER:
          this.#named(start, (made) => (tree = made));
          return tree;
        default:
          if (!P("primary").before.has(this.#next)) throw this.#noViable(P("primary"), 1);
          if (this.#next === T.MINUS && !this.#isNumber(2)) throw this.#noViable(P("primary"), 2);
          tree = this.#call(this.#in.from(P("primary literal")), this.#literal());
      }
    } catch (error) {
      this.#in.recover(error);
    } finally {
      this.#in.leave("primary", depth);
    }
    return tree;
  }

  #close(what: "list" | "map" | "message", type: number, text: string): void {
    this.#in.sync(P(`${what} comma`));
    if (this.#next === T.COMMA) this.#in.take();
    this.#in.match(type, P(`${what} ${text}`));
  }

  /** A name: a variable, a call of a function, or a message with its fields. */
  #named(start: Token, made: (tree: Tree) => void): void {
    const dots = this.#next === T.DOT ? 1 : 0;
    if (dots && this.#in.peek(2).type !== T.IDENTIFIER) throw this.#noViable(P("primary"), 2);
    const after = this.#in.peek(dots + 2).type;
    const isMessage = this.#isMessage(dots + 2);
    const leadingDot = dots ? this.#in.take() : undefined;
    if (isMessage) {
      const message: Message = { kind: "message", start, leadingDot, names: [], fields: [], colons: [], values: [] };
      made(message);
      message.names.push(this.#in.take());
      while (this.#next === T.DOT) {
        this.#in.take();
        message.names.push(this.#in.match(T.IDENTIFIER, P("message part")));
      }
      message.op = this.#in.match(T.LBRACE, P("message {"));
      this.#in.sync(P("message fields?"));
      if (P("message fields").before.has(this.#next))
        this.#call(this.#in.from(P("message fields")), this.#fieldInit(message));
      this.#close("message", T.RBRACE, "}");
    } else if (after === T.LPAREN) {
      const call: Tree = { kind: "call", start, leadingDot, name: this.#in.take(), open: this.#in.take(), args: [] };
      made(call);
      this.#in.sync(P("call args?"));
      if (P("call args").before.has(this.#next)) this.#call(this.#in.from(P("call args")), this.#exprList(call.args));
      this.#in.match(T.RPAREN, P("call )"));
    } else made({ kind: "ident", start, leadingDot, name: this.#in.take() });
  }

  /** Whether what follows a name, from the n-th token on, makes it that of a message: `.more.names {`. */
  #isMessage(n: number): boolean {
    while (this.#in.peek(n).type === T.DOT && this.#in.peek(n + 1).type === T.IDENTIFIER) n += 2;
    return this.#in.peek(n).type === T.LBRACE;
  }

  #exprList(into: Tree[]): void {
    this.#rule("exprList", () => {
      into.push(this.#call(this.#in.from(P("args first")), this.#expr()));
      while (this.#next === T.COMMA) {
        this.#in.take();
        into.push(this.#call(this.#in.from(P("args next")), this.#expr()));
      }
    });
  }

  #listInit(into: OptionalItem[]): void {
    this.#rule("listInit", () => {
      into.push(this.#call(this.#in.from(P("items first")), this.#optExpr()));
      while (this.#isCommaBefore(P("items next"))) {
        this.#in.take();
        into.push(this.#call(this.#in.from(P("items next")), this.#optExpr()));
      }
    });
  }

  /** Whether a comma separates two elements; the last one can be followed by a comma. */
  #isCommaBefore(element: Point): boolean {
    return this.#next === T.COMMA && element.before.has(this.#in.peek(2).type);
  }

  #mapInit(into: MapTree): void {
    this.#rule("mapInit", () => {
      do {
        if (into.keys.length > 0) this.#in.take();
        into.keys.push(this.#call(this.#in.from(P("entry first")), this.#optExpr()));
        into.colons.push(this.#in.match(T.COLON, P("entry :")));
        into.values.push(this.#call(this.#in.from(P("entry value")), this.#expr()));
      } while (this.#isCommaBefore(P("entry first")));
    });
  }

  #fieldInit(into: Message): void {
    this.#rule("fieldInit", () => {
      do {
        if (into.fields.length > 0) this.#in.take();
        into.fields.push(this.#call(this.#in.from(P("field first")), this.#optField()));
        into.colons.push(this.#in.match(T.COLON, P("field :")));
        into.values.push(this.#call(this.#in.from(P("field value")), this.#expr()));
      } while (this.#isCommaBefore(P("field first")));
    });
  }

  #optField(): OptionalField {
    const field: OptionalField = { start: this.#in.peek() };
    this.#rule("optField", () => {
      this.#in.sync(P("field optional"));
      if (this.#next === T.QUESTION) field.optional = this.#in.take();
      field.name = this.#call(this.#in.from(P("field name")), this.#escapeIdent());
    });
    return field;
  }

  #escapeIdent(): EscapeIdent {
    const ident: EscapeIdent = { start: this.#in.peek(), isEscaped: false };
    this.#rule("escapeIdent", () => {
      this.#in.sync(P("escapeIdent"));
      if (this.#next !== T.IDENTIFIER && this.#next !== T.ESCAPED_IDENTIFIER) throw this.#noViable(P("escapeIdent"), 1);
      ident.isEscaped = this.#next === T.ESCAPED_IDENTIFIER;
      ident.name = this.#in.take();
    });
    return ident;
  }

  #optExpr(): OptionalItem {
    const item: OptionalItem = { start: this.#in.peek() };
    this.#rule("optExpr", () => {
      this.#in.sync(P("item optional"));
      if (this.#next === T.QUESTION) item.optional = this.#in.take();
      item.value = this.#call(this.#in.from(P("item expr")), this.#expr());
    });
    return item;
  }

  #literal(): Tree {
    const literal: Tree = { kind: "literal", start: this.#in.peek() };
    this.#rule("literal", () => {
      this.#in.sync(P("literal"));
      if (!P("literal").before.has(this.#next)) throw this.#noViable(P("literal"), 1);
      if (this.#next === T.MINUS) literal.sign = this.#in.take();
      literal.token = this.#in.take();
    });
    return literal;
  }

  #broken(): Tree {
    return { kind: "broken", start: this.#in.peek(), isUnary: false };
  }
}
