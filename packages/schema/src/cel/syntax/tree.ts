/**
 * What was parsed, before macros are expanded. Parts are missing where the text was wrong: the parser goes on after an
 * error, so that one run shows all of them.
 */
import type { Token } from "./tokens.ts";

/** Every node begins somewhere; messages point there. */
interface Begins {
  start: Token;
}

/** A node of what was written. */
export type Tree =
  | Ternary
  | Chain
  | Binary
  | Prefixed
  | Select
  | Method
  | Index
  | Ident
  | Call
  | List
  | MapTree
  | Message
  | LiteralTree
  | Broken;

/** `a ? b : c`. */
export interface Ternary extends Begins {
  kind: "ternary";
  condition: Tree;
  op: Token;
  yes?: Tree;
  no?: Tree;
}

/** Two or more terms joined by `||` or by `&&`. */
export interface Chain extends Begins {
  kind: "or" | "and";
  first: Tree;
  ops: Token[];
  rest: Tree[];
}

/** Two operands and what is between them. */
export interface Binary extends Begins {
  kind: "binary";
  left: Tree;
  op: Token;
  right: Tree;
}

/** A value with `!` or `-` in front, once or more often. */
export interface Prefixed extends Begins {
  kind: "not" | "negate";
  ops: Token[];
  member?: Tree;
}

/** `a.b` or `a.?b`. */
export interface Select extends Begins {
  kind: "select";
  operand: Tree;
  op?: Token;
  optional?: Token;
  name?: EscapeIdent;
}

/** A name in backquotes. */
export interface EscapeIdent extends Begins {
  name?: Token;
  isEscaped: boolean;
}

/** `a.b(c)`. */
export interface Method extends Begins {
  kind: "method";
  operand: Tree;
  name?: Token;
  open?: Token;
  args: Tree[];
}

/** `a[b]` or `a[?b]`. */
export interface Index extends Begins {
  kind: "index";
  operand: Tree;
  op?: Token;
  optional?: Token;
  index?: Tree;
}

/** A name. */
export interface Ident extends Begins {
  kind: "ident";
  leadingDot?: Token;
  name?: Token;
}

/** `f(a)`. */
export interface Call extends Begins {
  kind: "call";
  leadingDot?: Token;
  name?: Token;
  open?: Token;
  args: Tree[];
}

/** `[a, ?b]`. */
export interface List extends Begins {
  kind: "list";
  op?: Token;
  items: OptionalItem[];
}

/** An item that may be marked with a `?`. */
export interface OptionalItem extends Begins {
  optional?: Token;
  value?: Tree;
}

/** `{k: v}`. */
export interface MapTree extends Begins {
  kind: "map";
  op?: Token;
  keys: OptionalItem[];
  colons: Token[];
  values: Tree[];
}

/** `Type{field: value}`. */
export interface Message extends Begins {
  kind: "message";
  leadingDot?: Token;
  names: Token[];
  op?: Token;
  fields: OptionalField[];
  colons: Token[];
  values: Tree[];
}

/** A field that may be marked with a `?`. */
export interface OptionalField extends Begins {
  optional?: Token;
  name?: EscapeIdent;
}

/** A constant as it was written. */
export interface LiteralTree extends Begins {
  kind: "literal";
  sign?: Token;
  token?: Token;
}

/** Nothing could be made of this part; `unary` ones stand for a value all the same. */
export interface Broken extends Begins {
  kind: "broken";
  isUnary: boolean;
}
