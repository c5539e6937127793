/**
 * CEL's grammar as data, for one purpose: to know which tokens may come next at any point of it. Messages about syntax
 * list them, and recovery from an error skips to one of them. The parser itself is written by hand, in the same order.
 */
import { T } from "./tokens.ts";

/** Stands in a set for "the rule may end here". */
const END = -2;

type TokenSet = ReadonlySet<number>;

/** A point of the grammar: what may come at it, and what may come once it is behind. */
export interface Point {
  readonly before: TokenSet;
  readonly after: TokenSet;
}

interface Element extends Point {
  before: TokenSet;
  after: TokenSet;
  first(): TokenSet;
  isNullable(): boolean;
  /** Fills in `before` and `after`, given what may follow within the rule. */
  place(follow: TokenSet): void;
}

const EMPTY: TokenSet = new Set();
const union = (...sets: TokenSet[]): TokenSet => new Set(sets.flatMap((set) => [...set]));

abstract class Base implements Element {
  before: TokenSet = EMPTY;
  after: TokenSet = EMPTY;
  abstract first(): TokenSet;
  abstract isNullable(): boolean;
  place(follow: TokenSet): void {
    this.after = follow;
    this.before = this.isNullable() ? union(this.first(), follow) : this.first();
  }
}

class TokenElement extends Base {
  readonly types: readonly number[];
  constructor(types: readonly number[]) {
    super();
    this.types = types;
  }
  first = () => new Set(this.types);
  isNullable = () => false;
}

class RuleElement extends Base {
  readonly rule: string;
  constructor(rule: string) {
    super();
    this.rule = rule;
  }
  first = (): TokenSet => rules[this.rule]!.first();
  isNullable = () => false;
}

class Sequence extends Base {
  readonly parts: readonly Element[];
  constructor(parts: readonly Element[]) {
    super();
    this.parts = parts;
  }
  first = () => {
    const end = this.parts.findIndex((part) => !part.isNullable());
    return union(...this.parts.slice(0, end < 0 ? undefined : end + 1).map((part) => part.first()));
  };
  isNullable = () => this.parts.every((part) => part.isNullable());
  override place(follow: TokenSet): void {
    super.place(follow);
    for (const part of [...this.parts].reverse()) {
      part.place(follow);
      follow = part.before;
    }
  }
}

class Choice extends Base {
  readonly options: readonly Element[];
  constructor(options: readonly Element[]) {
    super();
    this.options = options;
  }
  first = () => union(...this.options.map((option) => option.first()));
  isNullable = () => false;
  override place(follow: TokenSet): void {
    super.place(follow);
    for (const option of this.options) option.place(follow);
  }
}

/** Something that may be left out (`?`), repeated (`+`), or both (`*`). */
class Repeat extends Base {
  readonly body: Element;
  readonly times: "?" | "*" | "+";
  /** Only for `+`: the point after one round, where another may begin. */
  again: Point = { before: EMPTY, after: EMPTY };
  constructor(body: Element, times: "?" | "*" | "+") {
    super();
    this.body = body;
    this.times = times;
  }
  first = () => this.body.first();
  isNullable = () => this.times !== "+";
  override place(follow: TokenSet): void {
    super.place(follow);
    const next = this.times === "?" ? follow : union(this.first(), follow);
    this.body.place(next);
    this.again = { before: next, after: follow };
  }
}

const points = new Map<string, Element>();

const token = (...types: number[]) => new TokenElement(types);
const rule = (name: string) => new RuleElement(name);
const sequence = (...parts: Element[]) => new Sequence(parts);
const choice = (...options: Element[]) => new Choice(options);
const optional = (...parts: Element[]) => new Repeat(sequence(...parts), "?");
const any = (...parts: Element[]) => new Repeat(sequence(...parts), "*");
const some = (...parts: Element[]) => new Repeat(sequence(...parts), "+");
/** Gives a point a name by which the parser finds it. */
const at = <E extends Element>(name: string, element: E): E => {
  points.set(name, element);
  return element;
};

/** The operators of each level that has several. */
export const COMPARISONS = [T.LESS, T.LESS_EQUALS, T.GREATER_EQUALS, T.GREATER, T.EQUALS, T.NOT_EQUALS, T.IN];
export const FACTORS = [T.STAR, T.SLASH, T.PERCENT];
export const TERMS = [T.PLUS, T.MINUS];

const rules: Record<string, Element> = {
  start: sequence(at("start expr", rule("expr")), at("start end", token(T.EOF))),
  expr: sequence(
    at("expr condition", rule("or")),
    at(
      "expr ternary",
      optional(
        at("expr ?", token(T.QUESTION)),
        at("expr yes", rule("or")),
        at("expr :", token(T.COLON)),
        at("expr no", rule("expr")),
      ),
    ),
  ),
  or: sequence(at("or first", rule("and")), at("or more", any(at("or op", token(T.OR)), at("or next", rule("and"))))),
  and: sequence(
    at("and first", rule("relation")),
    at("and more", any(at("and op", token(T.AND)), at("and next", rule("relation")))),
  ),
  relation: sequence(
    at("relation calc", rule("calc")),
    at("relation more", any(token(...COMPARISONS), at("relation right", rule("relation")))),
  ),
  calc: sequence(
    at("calc unary", rule("unary")),
    at(
      "calc more",
      any(
        choice(
          sequence(token(...FACTORS), at("calc factor", rule("calc"))),
          sequence(token(...TERMS), at("calc term", rule("calc"))),
        ),
      ),
    ),
  ),
  unary: at(
    "unary",
    choice(
      at("unary plain", rule("member")),
      sequence(at("unary nots", some(at("unary !", token(T.EXCLAM)))), at("unary not", rule("member"))),
      sequence(at("unary minuses", some(at("unary -", token(T.MINUS)))), at("unary minus", rule("member"))),
    ),
  ),
  member: sequence(
    at("member primary", rule("primary")),
    at(
      "member more",
      any(
        choice(
          sequence(
            at("select .", token(T.DOT)),
            at("select optional", optional(at("select ?", token(T.QUESTION)))),
            at("select name", rule("escapeIdent")),
          ),
          sequence(
            at("method .", token(T.DOT)),
            at("method name", token(T.IDENTIFIER)),
            at("method (", token(T.LPAREN)),
            at("method args?", optional(at("method args", rule("exprList")))),
            at("method )", token(T.RPAREN)),
          ),
          sequence(
            at("index [", token(T.LBRACKET)),
            at("index optional", optional(at("index ?", token(T.QUESTION)))),
            at("index value", rule("expr")),
            at("index ]", token(T.RBRACKET)),
          ),
        ),
      ),
    ),
  ),
  primary: at(
    "primary",
    choice(
      sequence(optional(at("primary .", token(T.DOT))), at("ident name", token(T.IDENTIFIER))),
      sequence(
        optional(token(T.DOT)),
        at("call name", token(T.IDENTIFIER)),
        at("call (", token(T.LPAREN)),
        at("call args?", optional(at("call args", rule("exprList")))),
        at("call )", token(T.RPAREN)),
      ),
      sequence(at("nested (", token(T.LPAREN)), at("nested expr", rule("expr")), at("nested )", token(T.RPAREN))),
      sequence(
        at("list [", token(T.LBRACKET)),
        at("list items?", optional(at("list items", rule("listInit")))),
        at("list comma", optional(at("list ,", token(T.COMMA)))),
        at("list ]", token(T.RBRACKET)),
      ),
      sequence(
        at("map {", token(T.LBRACE)),
        at("map entries?", optional(at("map entries", rule("mapInit")))),
        at("map comma", optional(at("map ,", token(T.COMMA)))),
        at("map }", token(T.RBRACE)),
      ),
      sequence(
        optional(token(T.DOT)),
        at("message name", token(T.IDENTIFIER)),
        any(at("message .", token(T.DOT)), at("message part", token(T.IDENTIFIER))),
        at("message {", token(T.LBRACE)),
        at("message fields?", optional(at("message fields", rule("fieldInit")))),
        at("message comma", optional(at("message ,", token(T.COMMA)))),
        at("message }", token(T.RBRACE)),
      ),
      at("primary literal", rule("literal")),
    ),
  ),
  exprList: sequence(
    at("args first", rule("expr")),
    at("args more", any(at("args ,", token(T.COMMA)), at("args next", rule("expr")))),
  ),
  listInit: sequence(
    at("items first", rule("optExpr")),
    at("items more", any(at("items ,", token(T.COMMA)), at("items next", rule("optExpr")))),
  ),
  fieldInit: sequence(
    at("field first", rule("optField")),
    at("field :", token(T.COLON)),
    at("field value", rule("expr")),
    at("field more", any(at("field ,", token(T.COMMA)), rule("optField"), token(T.COLON), rule("expr"))),
  ),
  optField: sequence(
    at("field optional", optional(at("field ?", token(T.QUESTION)))),
    at("field name", rule("escapeIdent")),
  ),
  mapInit: sequence(
    at("entry first", rule("optExpr")),
    at("entry :", token(T.COLON)),
    at("entry value", rule("expr")),
    at("entry more", any(at("entry ,", token(T.COMMA)), rule("optExpr"), token(T.COLON), rule("expr"))),
  ),
  escapeIdent: at(
    "escapeIdent",
    choice(at("escapeIdent plain", token(T.IDENTIFIER)), at("escapeIdent escaped", token(T.ESCAPED_IDENTIFIER))),
  ),
  optExpr: sequence(at("item optional", optional(at("item ?", token(T.QUESTION)))), at("item expr", rule("expr"))),
  literal: at(
    "literal",
    choice(
      sequence(optional(at("literal -", token(T.MINUS))), at("literal number", token(T.INT, T.FLOAT))),
      at("literal other", token(T.UINT, T.STRING, T.BYTES, T.TRUE, T.FALSE, T.NULL)),
    ),
  ),
};

let isPlaced = false;

/** The points by name. Their sets are computed with the first expression: most programs that import this parse none. */
function placedPoints(): ReadonlyMap<string, Element> {
  if (!isPlaced) for (const body of Object.values(rules)) body.place(new Set([END]));
  isPlaced = true;
  return points;
}

/** The point of that name. */
export function point(name: string): Point {
  const found = placedPoints().get(name);
  if (!found) throw new Error(`the grammar has no point called ${name}`);
  return found;
}

/** The point after one round of a part that comes at least once, where another round may begin. */
export function pointOfNextRound(name: string): Point {
  return (placedPoints().get(name) as Repeat).again;
}

/** What may come at a point whose rule was reached through `callers` (innermost last), each the point of a call. */
export function expectedTokens(at: TokenSet, callers: readonly Point[]): Set<number> {
  const expected = new Set(at);
  for (let i = callers.length - 1; i >= 0 && expected.delete(END); i--) {
    for (const type of callers[i]!.after) expected.add(type);
  }
  if (expected.delete(END)) expected.add(T.EOF);
  return expected;
}

/** Where parsing can continue after an error: whatever can follow any of the active calls. */
export function recoveryTokens(callers: readonly Point[]): Set<number> {
  const tokens = new Set(callers.flatMap(({ after }) => [...after]));
  tokens.delete(END);
  return tokens;
}

/** Whether a rule may be over at this point, so that what comes next is its caller's business. */
export function mayEnd(at: TokenSet): boolean {
  return at.has(END);
}
