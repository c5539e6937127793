import type { Ast, Call, Comprehension, Expr, ListExpr, MapExpr, Select, StructExpr } from "../syntax/ast.ts";
import { type Issue, NO_LOCATION } from "../syntax/source.ts";
import { typeName } from "../values/values.ts";
import type { Declarations, FunctionDeclaration } from "./declarations.ts";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DYN,
  ERROR,
  formatSignature,
  formatType,
  INT,
  isDyn,
  isDynOrError,
  isOptional,
  listType,
  mapType,
  NULL,
  optionalType,
  STRING,
  sameType,
  type Type,
  typeParam,
  typeType,
  UINT,
} from "./types.ts";
import { mostGeneral, Substitutions } from "./unify.ts";

/** What a name or a call refers to. */
export interface Reference {
  /** Of a variable or type: its full name. */
  readonly name?: string;
  /** Of a call: the overloads that its arguments' types allow. */
  readonly overloads?: readonly string[];
}

/** A parsed expression with the types of its parts. */
export interface CheckedAst extends Ast {
  readonly types: ReadonlyMap<number, Type>;
  readonly references: ReadonlyMap<number, Reference>;
}

/** Finds the type of every part of an expression. With issues, the result is not fit to run. */
export function check(ast: Ast, declarations: Declarations): { checked: CheckedAst; issues: Issue[] } {
  const checker = new Checker(ast, declarations);
  checker.check(ast.expr);
  const types = new Map([...checker.types].map(([id, type]) => [id, checker.known.apply(type, true)]));
  return { checked: { ...ast, types, references: checker.references }, issues: checker.issues };
}

const LITERAL_TYPES: Record<string, Type> = {
  bool: BOOL,
  bytes: BYTES,
  double: DOUBLE,
  int: INT,
  null_type: NULL,
  string: STRING,
  uint: UINT,
};

class Checker {
  readonly issues: Issue[] = [];
  readonly types = new Map<number, Type>();
  readonly references = new Map<number, Reference>();
  readonly known = new Substitutions();
  readonly #ast: Ast;
  readonly #declarations: Declarations;
  /** Variables of the loops around the current place, innermost last. */
  readonly #scopes: Map<string, Type>[] = [];
  #freeTypes = 0;

  constructor(ast: Ast, declarations: Declarations) {
    this.#ast = ast;
    this.#declarations = declarations;
  }

  /** The type of an expression; it and everything inside is known from then on. */
  check(expr: Expr): Type {
    const type = this.#infer(expr);
    this.#setType(expr, type);
    return type;
  }

  #infer(expr: Expr): Type {
    switch (expr.kind) {
      case "literal":
        return LITERAL_TYPES[typeName(expr.value)]!;
      case "ident": {
        const found = this.#lookup(expr.name);
        return found ? this.#refer(expr, found) : this.#undeclared(expr.id, expr.name);
      }
      case "select":
        return this.#select(expr);
      case "call":
        return this.#call(expr);
      case "list":
        return this.#list(expr);
      case "map":
        return this.#map(expr);
      case "struct":
        return this.#struct(expr);
      case "comprehension":
        return this.#comprehension(expr);
      case "unspecified":
        this.#report(expr.id, "unexpected unspecified type: ");
        return ERROR;
    }
  }

  #report(id: number, message: string): void {
    const offset = this.#ast.offsets.get(id);
    const location = offset === undefined ? NO_LOCATION : this.#ast.source.locate(offset);
    this.issues.push({ location, message });
  }

  #undeclared(id: number, name: string): Type {
    this.#report(id, `undeclared reference to '${name}' (in container '')`);
    return ERROR;
  }

  #mismatch(id: number, expected: Type, actual: Type): void {
    this.#report(id, `expected type '${formatType(expected)}' but found '${formatType(actual)}'`);
  }

  #typeOf(expr: Expr): Type {
    return this.types.get(expr.id)!;
  }

  #setType(expr: Expr, type: Type): void {
    const old = this.types.get(expr.id);
    if (!old || sameType(old, type)) this.types.set(expr.id, type);
    else this.#report(expr.id, `incompatible type already exists for expression: old:${old.name}, new:${type.name}`);
  }

  #newTypeVariable(): Type {
    return typeParam(`_var${this.#freeTypes++}`);
  }

  /** A variable, a type with fields, or the name of a type; names may begin with a dot, which changes nothing here. */
  #lookup(name: string): { name: string; type: Type } | undefined {
    const full = name.startsWith(".") ? name.slice(1) : name;
    for (let i = this.#scopes.length - 1; i >= 0; i--) {
      const type = this.#scopes[i]!.get(full);
      if (type) return { name: full, type };
    }
    const { variables, typeNames } = this.#declarations;
    const variable = variables.get(full);
    if (variable) return { name: full, type: variable };
    const type = this.#declarations.struct(full)?.type ?? typeNames.get(full);
    return type && { name: full, type: typeType(type) };
  }

  #refer(expr: Expr, { name, type }: { name: string; type: Type }): Type {
    this.references.set(expr.id, { name });
    if (expr.kind === "ident") expr.name = name;
    return type;
  }

  #select(expr: Select): Type {
    const qualified = qualifiedName(expr);
    const found = qualified === undefined ? undefined : this.#lookup(qualified);
    if (found) return this.#refer(expr, found);
    const result = this.#fieldType(expr, expr.operand, expr.field, false);
    return this.known.apply(expr.testOnly ? BOOL : result, false);
  }

  #fieldType(expr: Expr, operand: Expr, field: string, optional: boolean): Type {
    const operandType = this.known.apply(this.check(operand), false);
    const target = isOptional(operandType) ? operandType.params[0]! : operandType;
    let result: Type = ERROR;
    if (target.kind === "map") result = target.params[1]!;
    else if (target.kind === "struct") result = this.#structFieldType(expr.id, target.name, field) ?? ERROR;
    else {
      if (target.kind === "param") this.known.fits(DYN, target);
      else if (!isDynOrError(target))
        this.#report(expr.id, `type '${formatType(target)}' does not support field selection`);
      result = DYN;
    }
    return optional || target !== operandType ? optionalType(result) : result;
  }

  #structFieldType(id: number, name: string, field: string): Type | undefined {
    const struct = this.#declarations.struct(name);
    if (!struct) {
      this.#report(id, `unexpected failed resolution of '${name}'`);
      return undefined;
    }
    const type = struct.field(field);
    if (!type) this.#report(id, `undefined field '${field}'`);
    return type;
  }

  #call(expr: Call): Type {
    if (expr.fn === "_?._") {
      const [operand, field] = expr.args as [Expr, Expr & { value: string }];
      const result = this.#fieldType(expr, operand, field.value, true);
      this.references.set(expr.id, { overloads: ["select_optional_field"] });
      return this.known.apply(result, false);
    }
    for (const arg of expr.args) this.check(arg);
    const { functions } = this.#declarations;
    if (!expr.target) {
      const found = functions.get(expr.fn.replace(/^\./, ""));
      if (!found) return this.#undeclared(expr.id, expr.fn);
      expr.fn = found.name;
      return this.#resolve(expr, found);
    }
    // `a.b.c()` is either the function called a.b.c, or c of the value a.b.
    const prefix = qualifiedName(expr.target);
    const qualified = prefix === undefined ? undefined : functions.get(`${prefix}.${expr.fn}`.replace(/^\./, ""));
    if (qualified) {
      expr.fn = qualified.name;
      expr.target = undefined;
      return this.#resolve(expr, qualified);
    }
    this.check(expr.target);
    const found = functions.get(expr.fn);
    return found ? this.#resolve(expr, found) : this.#undeclared(expr.id, expr.fn);
  }

  #resolve(expr: Call, fn: FunctionDeclaration): Type {
    const operands = expr.target ? [expr.target, ...expr.args] : expr.args;
    const argTypes = operands.map((operand) => this.#typeOf(operand));
    if (fn.name === "_&&_" || fn.name === "_||_") return this.#logical(expr, fn);
    const overloads: string[] = [];
    let result: Type | undefined;
    for (const overload of fn.overloads) {
      if (overload.isMethod !== (expr.target !== undefined)) continue;
      const fresh = Substitutions.rename(new Map(overload.params.map((name) => [name, this.#newTypeVariable()])));
      const params = overload.args.map((arg) => fresh.apply(arg, false));
      if (!this.known.fitAll(argTypes, params)) continue;
      overloads.push(overload.id);
      const type = this.known.apply(fresh.apply(overload.result, false), false);
      if (!result) result = type;
      else if (!isDyn(result) && !sameType(type, result)) result = DYN;
    }
    if (!result) {
      const signature = formatSignature(
        argTypes.map((type) => this.known.apply(type, true)),
        expr.target !== undefined,
      );
      this.#report(expr.id, `found no matching overload for '${fn.name}' applied to '${signature}'`);
      return ERROR;
    }
    this.references.set(expr.id, { overloads });
    return result;
  }

  #logical(expr: Call, fn: FunctionDeclaration): Type {
    let isWrong = false;
    for (const arg of expr.args) {
      if (this.known.fits(this.#typeOf(arg), BOOL)) continue;
      this.#mismatch(arg.id, BOOL, this.#typeOf(arg));
      isWrong = true;
    }
    if (isWrong) return ERROR;
    this.references.set(expr.id, { overloads: [fn.overloads[0]!.id] });
    return BOOL;
  }

  #list(expr: ListExpr): Type {
    let element: Type | undefined;
    for (const [i, item] of expr.items.entries()) {
      this.check(item);
      const type = expr.optionals.includes(i) ? this.#unwrap(item) : this.#typeOf(item);
      element = this.#join(element, type);
    }
    return listType(element ?? this.#newTypeVariable());
  }

  #map(expr: MapExpr): Type {
    let keyType: Type | undefined;
    let valueType: Type | undefined;
    for (const { key, value, optional } of expr.entries) {
      this.check(key);
      keyType = this.#join(keyType, this.#typeOf(key));
      this.check(value);
      valueType = this.#join(valueType, optional ? this.#unwrap(value) : this.#typeOf(value));
    }
    return mapType(keyType ?? this.#newTypeVariable(), valueType ?? this.#newTypeVariable());
  }

  /** The type inside an optional; anything else is wrong here. */
  #unwrap(expr: Expr): Type {
    const type = this.#typeOf(expr);
    if (isOptional(type)) return type.params[0]!;
    if (!isDyn(type)) this.#mismatch(expr.id, optionalType(type), type);
    return type;
  }

  /** The type of elements that have been of one type so far when another comes. */
  #join(previous: Type | undefined, current: Type): Type {
    if (!previous) return current;
    return this.known.fits(previous, current) ? mostGeneral(previous, current) : DYN;
  }

  #struct(expr: StructExpr): Type {
    const found = this.#lookup(expr.type);
    if (!found) return this.#undeclared(expr.id, expr.type);
    expr.type = found.name;
    this.references.set(expr.id, { name: found.name });
    let result: Type = ERROR;
    if (found.type.kind !== "type") this.#report(expr.id, `'${found.type.name}' is not a type`);
    else if (found.type.params[0]?.kind === "struct") result = found.type.params[0];
    else this.#report(expr.id, `'${found.type.params[0]?.name ?? "type"}' is not a message type`);
    for (const { id, name, value, optional } of expr.fields) {
      this.check(value);
      const fieldType = this.#structFieldType(id, result === ERROR ? found.name : result.name, name) ?? ERROR;
      const valueType = optional ? this.#unwrap(value) : this.#typeOf(value);
      if (this.known.fits(fieldType, valueType)) continue;
      const types = `'${formatType(fieldType)}' but provided type is '${formatType(valueType)}'`;
      this.#report(id, `expected type of field '${name}' is ${types}`);
    }
    return result;
  }

  #comprehension(expr: Comprehension): Type {
    this.check(expr.range);
    this.check(expr.accuInit);
    const rangeType = this.known.apply(this.#typeOf(expr.range), false);
    const accuType = this.#typeOf(expr.accuInit);
    const [first, second] = this.#loopTypes(expr, rangeType);
    this.#scopes.push(new Map([[expr.accuVar, accuType]]));
    const loop = new Map([[expr.iterVar, first]]);
    if (expr.iterVar2 !== undefined) loop.set(expr.iterVar2, second);
    this.#scopes.push(loop);
    this.check(expr.condition);
    this.#require(expr.condition, BOOL);
    this.check(expr.step);
    this.#require(expr.step, accuType);
    this.#scopes.pop();
    const result = this.check(expr.result);
    this.#scopes.pop();
    return this.known.apply(result, false);
  }

  /** The types of a loop's variables: element, or index and element; key, or key and value. */
  #loopTypes(expr: Comprehension, range: Type): [Type, Type] {
    const hasTwo = expr.iterVar2 !== undefined;
    switch (range.kind) {
      case "list":
        return hasTwo ? [INT, range.params[0]!] : [range.params[0]!, ERROR];
      case "map":
        return [range.params[0]!, range.params[1]!];
      case "dyn":
      case "error":
      case "param":
        this.known.fits(DYN, range);
        return [DYN, DYN];
    }
    const problem = "cannot be range of a comprehension (must be list, map, or dynamic)";
    this.#report(expr.range.id, `expression of type '${formatType(range)}' ${problem}`);
    return [ERROR, ERROR];
  }

  #require(expr: Expr, type: Type): void {
    if (!this.known.fits(type, this.#typeOf(expr))) this.#mismatch(expr.id, type, this.#typeOf(expr));
  }
}

/** `a.b.c` if the expression consists of nothing but names and dots. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === "ident") return expr.name;
  if (expr.kind !== "select" || expr.testOnly) return undefined;
  const prefix = qualifiedName(expr.operand);
  return prefix === undefined ? undefined : `${prefix}.${expr.field}`;
}
