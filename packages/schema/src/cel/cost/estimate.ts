/**
 * What an expression can cost at worst, before it ever runs. API servers refuse CRDs whose rules could become too
 * expensive by this estimate, so it counts exactly as theirs.
 */

import type { Call, Comprehension, Expr, ListExpr, MapExpr, Select } from "../syntax/ast.ts";
import type { CheckedAst } from "../types/checker.ts";
import type { DataType } from "../types/schema-types.ts";
import type { Type } from "../types/types.ts";
import { codePointLength } from "../values/code-points.ts";
import { type CallEstimate, type EstimatedNode, estimateCall } from "./estimate-calls.ts";
import { Path } from "./estimate-path.ts";
import { cover, exactly, MOST, ONE, plus, type Range, times, UNKNOWN, ZERO } from "./estimate-range.ts";
import { LIST_COST, MAP_COST, STRUCT_COST } from "./runtime-cost.ts";

/** The cost of an expression about data of a type. */
export function estimateCost(ast: CheckedAst, data: DataType | undefined): Range {
  return new Estimator(ast, data).cost(ast.expr);
}

/** The sizes of what is in a list or a map. */
interface EntrySizes {
  readonly isMap: boolean;
  readonly key: Range;
  readonly value: Range;
}

interface Variable {
  readonly path: Path;
  readonly size?: Range;
  readonly entries?: EntrySizes;
}

const NOTHING_YET: Range = { min: MOST, max: 0n };

class Estimator {
  readonly #ast: CheckedAst;
  readonly #data: DataType | undefined;
  readonly #paths = new Map<number, Path>();
  readonly #sizes = new Map<number, Range>();
  readonly #entries = new Map<number, EntrySizes>();
  readonly #variables = new Map<string, Variable[]>();

  constructor(ast: CheckedAst, data: DataType | undefined) {
    this.#ast = ast;
    this.#data = data;
  }

  cost(expr: Expr): Range {
    switch (expr.kind) {
      case "ident":
        return this.#name(expr.id, expr.name);
      case "select":
        return this.#select(expr);
      case "call":
        return this.#call(expr);
      case "list":
        return this.#list(expr);
      case "map":
        return this.#map(expr);
      case "struct":
        return plus(...expr.fields.map(({ value }) => this.cost(value)), exactly(STRUCT_COST));
      case "comprehension":
        return isBind(expr) ? this.#bind(expr) : this.#loop(expr);
      default:
        return ZERO;
    }
  }

  #typeOf(expr: Expr): Type {
    return this.#ast.types.get(expr.id)!;
  }

  #variable(name: string): Variable | undefined {
    return this.#variables.get(name)?.at(-1);
  }

  #declare(name: string, variable: Variable): void {
    this.#variables.set(name, [...(this.#variables.get(name) ?? []), variable]);
  }

  #forget(name: string): void {
    this.#variables.get(name)!.pop();
  }

  #pathOf(expr: Expr): Path {
    const variable = expr.kind === "ident" ? this.#variable(expr.name) : undefined;
    return variable?.path ?? this.#paths.get(expr.id) ?? Path.none;
  }

  #name(id: number, name: string): Range {
    this.#paths.set(id, this.#variable(name)?.path ?? Path.of(name));
    return ONE;
  }

  #select(expr: Select): Range {
    const name = this.#ast.references.get(expr.id)?.name;
    if (name !== undefined) return this.#name(expr.id, name);
    const operand = this.cost(expr.operand);
    if (expr.testOnly) return operand;
    const { kind } = this.#typeOf(expr.operand);
    this.#paths.set(expr.id, this.#pathOf(expr.operand).add(expr.field));
    return kind === "map" || kind === "struct" || kind === "param" ? plus(operand, ONE) : operand;
  }

  #call(expr: Call): Range {
    if (expr.fn === "dyn") {
      const [arg] = expr.args as [Expr];
      const cost = this.cost(arg);
      this.#copySizes(expr, arg);
      return plus(ONE, cost);
    }
    const argCosts: Range[] = [];
    const args: EstimatedNode[] = [];
    for (const arg of expr.args) {
      argCosts.push(this.cost(arg));
      args.push(this.#node(arg));
    }
    const overloads = this.#ast.references.get(expr.id)?.overloads ?? [];
    if (overloads.length === 0) return ZERO;
    const targetCost = expr.target ? this.cost(expr.target) : ZERO;
    const target = expr.target && this.#node(expr.target);
    let cost = NOTHING_YET;
    let size: Range | undefined;
    for (const overload of overloads) {
      const estimate = this.#overload(expr, overload, target, args, argCosts);
      cost = cover(cost, estimate.cost);
      if (estimate.size) size = size ? cover(size, estimate.size) : estimate.size;
      if (overload === "index_list" || overload === "index_map") {
        size = this.#entriesOf(expr.args[0]!)?.value;
        this.#paths.set(expr.id, this.#pathOf(expr.args[0]!).add(overload === "index_list" ? "@items" : "@values"));
      }
      size ??= this.#sizeOf(expr);
    }
    if (size) this.#sizes.set(expr.id, size);
    return plus(targetCost, cost);
  }

  #overload(
    expr: Call,
    overload: string,
    target: EstimatedNode | undefined,
    args: readonly EstimatedNode[],
    argCosts: readonly Range[],
  ): CallEstimate {
    switch (overload) {
      case "logical_or":
      case "logical_and":
        return { cost: { min: argCosts[0]!.min, max: plus(...argCosts).max } };
      case "conditional": {
        const [, yes, no] = expr.args as [Expr, Expr, Expr];
        this.#setEntries(expr, coverEntries(this.#entriesOf(yes), this.#entriesOf(no)));
        const cost = plus(argCosts[0]!, cover(argCosts[1]!, argCosts[2]!));
        return { cost, size: cover(args[1]!.size ?? UNKNOWN, args[2]!.size ?? UNKNOWN) };
      }
      case "add_string":
      case "add_bytes":
      case "add_list": {
        const entries = coverEntries(this.#entriesOf(expr.args[0]!), this.#entriesOf(expr.args[1]!));
        this.#setEntries(expr, entries);
      }
    }
    const sizeAt = (path: Path) => this.#sizeAt(path);
    const { cost, size } = estimateCall(expr.fn, overload, target, args, sizeAt);
    return { cost: plus(cost, ...argCosts), size };
  }

  #node(expr: Expr): EstimatedNode {
    const path = this.#pathOf(expr);
    const isAccumulator = path.steps()[0] === "@result" || path.steps()[0] === "__result__";
    return { expr, type: this.#typeOf(expr), path: isAccumulator ? Path.none : path, size: this.#sizeOf(expr) };
  }

  #list(expr: ListExpr): Range {
    let sum = ZERO;
    let value = expr.items.length === 0 ? ZERO : NOTHING_YET;
    for (const item of expr.items) {
      sum = plus(sum, this.cost(item));
      value = cover(value, this.#sizeOf(item) ?? UNKNOWN);
    }
    this.#entries.set(expr.id, { isMap: false, key: ONE, value });
    return plus(sum, exactly(LIST_COST));
  }

  #map(expr: MapExpr): Range {
    let sum = ZERO;
    let keys = expr.entries.length === 0 ? ZERO : NOTHING_YET;
    let values = keys;
    for (const { key, value } of expr.entries) {
      sum = plus(sum, this.cost(key), this.cost(value));
      keys = cover(keys, this.#sizeOf(key) ?? UNKNOWN);
      values = cover(values, this.#sizeOf(value) ?? UNKNOWN);
    }
    this.#entries.set(expr.id, { isMap: true, key: keys, value: values });
    return plus(sum, exactly(MAP_COST));
  }

  #loop(expr: Comprehension): Range {
    const before = plus(this.cost(expr.range), this.cost(expr.accuInit));
    this.#declare(expr.accuVar, this.#bound(expr.accuInit));
    this.#declareLoopVariables(expr);
    const round = plus(this.cost(expr.condition), this.cost(expr.step));
    this.#forget(expr.iterVar);
    if (expr.iterVar2 !== undefined) this.#forget(expr.iterVar2);
    const result = this.cost(expr.result);
    this.#forget(expr.accuVar);
    const rounds = this.#sizeOf(expr.range) ?? UNKNOWN;
    const { kind } = expr.accuInit;
    if (kind === "literal") this.#setSize(expr, this.#sizeOf(expr.accuInit));
    if (kind === "list" || kind === "map") {
      this.#setSize(expr, rounds);
      this.#setEntries(expr, this.#entriesOf(expr.step));
    }
    return plus(before, result, times(rounds, round));
  }

  #declareLoopVariables(expr: Comprehension): void {
    const entries = this.#entriesOf(expr.range);
    const isList = entries ? !entries.isMap : this.#typeOf(expr.range).kind === "list";
    const path = this.#pathOf(expr.range);
    const key = () => ({ path: path.add(isList ? "@indices" : "@keys"), size: entries?.key });
    const value = () => ({ path: path.add(isList ? "@items" : "@values"), size: entries?.value });
    if (expr.iterVar2 === undefined) this.#declare(expr.iterVar, isList ? value() : key());
    else {
      this.#declare(expr.iterVar, key());
      this.#declare(expr.iterVar2, value());
    }
  }

  #bind(expr: Comprehension): Range {
    const before = plus(this.cost(expr.range), this.cost(expr.accuInit));
    this.#declare(expr.accuVar, this.#bound(expr.accuInit));
    const result = this.cost(expr.result);
    this.#forget(expr.accuVar);
    this.#copySizes(expr, expr.result);
    return plus(before, result);
  }

  #bound(expr: Expr): Variable {
    return { path: this.#pathOf(expr), entries: this.#entriesOf(expr), size: this.#sizeOf(expr) };
  }

  #copySizes(to: Expr, from: Expr): void {
    this.#setSize(to, this.#sizeOf(from));
    this.#setEntries(to, this.#entriesOf(from));
  }

  #setSize(expr: Expr, size: Range | undefined): void {
    if (size) this.#sizes.set(expr.id, size);
  }

  #setEntries(expr: Expr, entries: EntrySizes | undefined): void {
    if (entries) this.#entries.set(expr.id, entries);
  }

  #entriesOf(expr: Expr): EntrySizes | undefined {
    return this.#entries.get(expr.id) ?? (expr.kind === "ident" ? this.#variable(expr.name)?.entries : undefined);
  }

  #sizeOf(expr: Expr): Range | undefined {
    const known = this.#sizes.get(expr.id) ?? literalSize(expr);
    if (known) return known;
    const fromData = this.#sizeAt(this.#pathOf(expr));
    if (fromData) {
      this.#sizes.set(expr.id, fromData);
      return fromData;
    }
    if (isScalar(this.#typeOf(expr))) return ONE;
    return expr.kind === "ident" ? this.#variable(expr.name)?.size : undefined;
  }

  /** How large the data at a path can be, by its schema. */
  #sizeAt(path: Path): Range | undefined {
    if (path.length === 0 || !this.#data) return undefined;
    let data: DataType | undefined = this.#data;
    for (const step of path.steps().slice(1)) {
      if (step === "@items" || step === "@values") data = data.element;
      else if (step === "@keys") data = data.isMap ? KEY : undefined;
      else data = data.fields?.get(step);
      if (!data) return undefined;
    }
    return { min: 0n, max: BigInt(data.most) };
  }
}

/** The keys of maps have no schema. */
const KEY: DataType = { most: 0, fewestBytes: 2 };

/** A loop over nothing that only gives a value a name. */
function isBind({ range, condition, accuVar }: Comprehension): boolean {
  return (
    range.kind === "list" &&
    range.items.length === 0 &&
    condition.kind === "literal" &&
    condition.value === false &&
    accuVar !== "__result__"
  );
}

function coverEntries(a: EntrySizes | undefined, b: EntrySizes | undefined): EntrySizes | undefined {
  return a && b && { isMap: a.isMap, key: cover(a.key, b.key), value: cover(a.value, b.value) };
}

function literalSize(expr: Expr): Range | undefined {
  if (expr.kind === "list") return exactly(expr.items.length);
  if (expr.kind === "map") return exactly(expr.entries.length);
  if (expr.kind !== "literal") return undefined;
  const { value } = expr;
  if (typeof value === "string") return exactly(codePointLength(value));
  return value instanceof Uint8Array ? exactly(value.length) : ONE;
}

const SCALARS = new Set(["bool", "double", "duration", "int", "timestamp", "uint"]);

function isScalar(type: Type): boolean {
  if (type.kind === "opaque" && type.name === "optional_type") return isScalar(type.params[0]!);
  return SCALARS.has(type.kind);
}
