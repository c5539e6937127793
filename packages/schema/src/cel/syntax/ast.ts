/** An expression after macro expansion: what is checked, priced and run. */

import type { Value } from "../values/values.ts";
import type { Source } from "./source.ts";

interface Node {
  /** Unique within an expression; types, references and places are kept by it. */
  readonly id: number;
}

/** A node of an expression. */
export type Expr = Literal | Ident | Select | Call | ListExpr | MapExpr | StructExpr | Comprehension | Unspecified;

/** A constant. */
export interface Literal extends Node {
  readonly kind: "literal";
  readonly value: Value;
}

/** A name. */
export interface Ident extends Node {
  readonly kind: "ident";
  /** The checker replaces it by the full name of what it refers to. */
  name: string;
}

/** `operand.field`. */
export interface Select extends Node {
  readonly kind: "select";
  readonly operand: Expr;
  readonly field: string;
  /** From `has()`: asks whether the field is there instead of reading it. */
  readonly testOnly: boolean;
}

/** A call of a function, a method or an operator. */
export interface Call extends Node {
  readonly kind: "call";
  /** The checker replaces it by the full name of the function. */
  fn: string;
  /** The value before the dot; the checker removes it where it turns out to be part of the function's name. */
  target: Expr | undefined;
  readonly args: readonly Expr[];
}

/** `[a, b]`. */
export interface ListExpr extends Node {
  readonly kind: "list";
  readonly items: readonly Expr[];
  /** Indices of items written with a `?`: left out when they have no value. */
  readonly optionals: readonly number[];
}

/** `{k: v}`. */
export interface MapExpr extends Node {
  readonly kind: "map";
  readonly entries: readonly MapEntry[];
}

/** One `k: v`. */
export interface MapEntry extends Node {
  readonly key: Expr;
  readonly value: Expr;
  readonly optional: boolean;
}

/** `Type{field: value}`. */
export interface StructExpr extends Node {
  readonly kind: "struct";
  /** The checker replaces it by the full name of the type. */
  type: string;
  readonly fields: readonly StructField[];
}

/** One `field: value`. */
export interface StructField extends Node {
  readonly name: string;
  readonly value: Expr;
  readonly optional: boolean;
}

/** A loop over a list or a map that folds its elements into an accumulator. All list macros become one. */
export interface Comprehension extends Node {
  readonly kind: "comprehension";
  readonly range: Expr;
  /** The element, or the key of a map; with two variables the index or key. */
  readonly iterVar: string;
  /** With two variables: the element, or the value of a map. */
  readonly iterVar2: string | undefined;
  readonly accuVar: string;
  readonly accuInit: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

/** What was wrong in the source and already reported. */
export interface Unspecified extends Node {
  readonly kind: "unspecified";
}

/** A parsed expression with the places of its nodes. */
export interface Ast {
  readonly source: Source;
  readonly expr: Expr;
  /** The offset at which the node of each id begins; none for nodes without a place. */
  readonly offsets: ReadonlyMap<number, number>;
}

/** The expressions directly inside another, in the order in which they are written. */
export function childrenOf(expr: Expr): Expr[] {
  switch (expr.kind) {
    case "select":
      return [expr.operand];
    case "call":
      return expr.target ? [expr.target, ...expr.args] : [...expr.args];
    case "list":
      return [...expr.items];
    case "map":
      return expr.entries.flatMap(({ key, value }) => [key, value]);
    case "struct":
      return expr.fields.map(({ value }) => value);
    case "comprehension":
      return [expr.range, expr.accuInit, expr.condition, expr.step, expr.result];
    default:
      return [];
  }
}
