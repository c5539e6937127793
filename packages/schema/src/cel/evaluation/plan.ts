/**
 * Turns a checked expression into closures, once, so that evaluating it is nothing but calling them. What each step costs
 * is decided here too; the shape of the plan is Kubernetes', because its costs depend on it.
 */

import { callCost, LIST_COST, MAP_COST, STRUCT_COST } from "../cost/runtime-cost.ts";
import { CONVERSIONS } from "../library/standard.ts";
import type { Call, Comprehension, Expr, ListExpr, MapExpr, Select, StructExpr } from "../syntax/ast.ts";
import type { CheckedAst } from "../types/checker.ts";
import type { Declarations } from "../types/declarations.ts";
import { GrowingList, GrowingMap, ListValue, MapValue } from "../values/collections.ts";
import { equal } from "../values/equality.ts";
import { valueText } from "../values/value-text.ts";
import { CelError, isError, noSuchOverload, Optional, TypeValue, type Value } from "../values/values.ts";
import {
  type Attribute,
  ComputedQualifier,
  ConditionalAttribute,
  ConstantQualifier,
  type Evaluate,
  invalidQualifier,
  isKey,
  PlainAttribute,
  PresenceQualifier,
} from "./attributes.ts";
import { Frame } from "./frame.ts";
import { type PlannedCall, planFunction } from "./plan-call.ts";
import { planLoop } from "./plan-loop.ts";
import { constant, PlanError, type Planned } from "./planned.ts";

/** An expression that can be evaluated. */
export interface Plan {
  readonly evaluate: Evaluate;
  /** How many variables its loops have. */
  readonly slots: number;
}

/** Plans a checked expression; throws a {@link PlanError} when a constant part of it cannot be computed. */
export function plan(ast: CheckedAst, declarations: Declarations): Plan {
  const planner = new Planner(ast, declarations);
  const { evaluate } = planner.plan(ast.expr);
  return { evaluate, slots: planner.slots };
}

class Planner {
  slots = 0;
  readonly #ast: CheckedAst;
  readonly #declarations: Declarations;
  /** The evaluation of the variables of the loops around the current place, innermost last. */
  readonly #scopes: Map<string, Evaluate>[] = [];

  constructor(ast: CheckedAst, declarations: Declarations) {
    this.#ast = ast;
    this.#declarations = declarations;
  }

  plan(expr: Expr): Planned {
    switch (expr.kind) {
      case "literal":
        return constant(expr.value);
      case "ident":
        return this.#reference(expr.id, expr.name);
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
        throw new PlanError("unsupported expr");
    }
  }

  #reference(id: number, name: string): Planned {
    if (this.#ast.types.get(id)!.kind === "type" && !this.#isVariable(name)) {
      const type = this.#declarations.typeNames.get(name);
      if (type?.name !== name) throw new PlanError(`reference to undefined type: ${name}`);
      return constant(new TypeValue(type.name));
    }
    return attribute(new PlainAttribute(this.#variable(name)));
  }

  #isVariable(name: string): boolean {
    return this.#scopes.some((scope) => scope.has(name)) || this.#declarations.variables.has(name);
  }

  #variable(name: string): Evaluate {
    for (let i = this.#scopes.length - 1; i >= 0; i--) {
      const local = this.#scopes[i]!.get(name);
      if (local) return local;
    }
    const unknown = new CelError(`no such attribute(s): ${name}`);
    return (frame) => {
      const value = frame.inputs[name];
      return value === undefined ? unknown : value;
    };
  }

  #select(expr: Select): Planned {
    const reference = this.#ast.references.get(expr.id)?.name;
    if (reference !== undefined) return this.#reference(expr.id, reference);
    const chain = chainOf(this.plan(expr.operand));
    if (!expr.testOnly) {
      chain.add(new ConstantQualifier(expr.field, false));
      return attribute(chain);
    }
    chain.add(new PresenceQualifier(expr.field));
    // Testing for presence is free but for the steps to the field; after a condition the accounts are even one short.
    const cost = chain.isConditional ? -1 : 0;
    const evaluate: Evaluate = (frame) => {
      const found = chain.resolve(frame);
      frame.charge(cost);
      return found instanceof Optional ? found.value !== undefined : found;
    };
    return { evaluate, attribute: chain };
  }

  #call(expr: Call): Planned {
    const operands = (expr.target ? [expr.target, ...expr.args] : expr.args).map((arg) => this.plan(arg));
    const [first, second, third] = operands as [Planned, Planned, Planned];
    switch (expr.fn) {
      case "_&&_":
        return { evaluate: logical(first.evaluate, second.evaluate, false) };
      case "_||_":
        return { evaluate: logical(first.evaluate, second.evaluate, true) };
      case "_?_:_":
        return attribute(new ConditionalAttribute(first.evaluate, branchOf(second), branchOf(third)));
      case "_==_":
        return { evaluate: equality(first.evaluate, second.evaluate, true) };
      case "_!=_":
        return { evaluate: equality(first.evaluate, second.evaluate, false) };
      case "_[_]":
        return this.#index(first, second, false);
      case "_[?_]":
      case "_?._":
        return this.#index(first, second, true);
    }
    const overloads = this.#ast.references.get(expr.id)?.overloads ?? [];
    const call: PlannedCall = {
      fn: this.#declarations.functions.get(expr.fn)!,
      overload: overloads.length === 1 ? overloads[0]! : "",
      operands,
    };
    const planned = planFunction(call);
    if (CONVERSIONS.has(expr.fn) && operands.length === 1 && first.constant) return fold(planned);
    return planned;
  }

  #index(operand: Planned, index: Planned, isOptional: boolean): Planned {
    const chain = chainOf(operand);
    if (index.constant) {
      const key = index.constant.value;
      if (!isKey(key)) throw new PlanError(invalidQualifier(key));
      chain.add(new ConstantQualifier(key, isOptional));
    } else {
      const { attribute: key } = index;
      chain.add(new ComputedQualifier(key ? (frame) => key.resolve(frame) : index.evaluate, isOptional));
    }
    return attribute(chain);
  }

  #list(expr: ListExpr): Planned {
    const items = expr.items.map((item) => this.plan(item));
    const evaluates = items.map(({ evaluate }) => evaluate);
    const optionals = new Set(expr.optionals);
    const build: Evaluate = (frame) => {
      const values: Value[] = [];
      for (let i = 0; i < evaluates.length; i++) {
        let value = evaluates[i]!(frame);
        if (isError(value)) return value;
        if (optionals.has(i)) {
          if (!(value instanceof Optional))
            return new CelError(`cannot initialize optional list element from non-optional value ${valueText(value)}`);
          if (value.value === undefined) continue;
          value = value.value;
        }
        values.push(value);
      }
      return new ListValue(values);
    };
    return constructed(build, items, LIST_COST);
  }

  #map(expr: MapExpr): Planned {
    const entries = expr.entries.map(({ key, value, optional }) => ({
      key: this.plan(key),
      value: this.plan(value),
      optional,
    }));
    const build: Evaluate = (frame) => {
      const map = new MapValue();
      for (const { key: planKey, value: planValue, optional } of entries) {
        const key = planKey.evaluate(frame);
        if (isError(key)) return key;
        const value = planValue.evaluate(frame);
        if (isError(value)) return value;
        const problem = optional ? setOptional(map, key, value) : map.set(key, value);
        if (problem) return problem;
      }
      return map;
    };
    return constructed(
      build,
      entries.flatMap(({ key, value }) => [key, value]),
      MAP_COST,
    );
  }

  #struct(expr: StructExpr): Planned {
    const struct = this.#declarations.struct(expr.type);
    const build = struct?.build;
    if (!struct) throw new PlanError(`unknown type: ${expr.type}`);
    const fields = expr.fields.map(({ name, value, optional }) => ({ name, optional, ...this.plan(value) }));
    const evaluate: Evaluate = (frame) => {
      const values = new Map<string, Value>();
      let error: Value | undefined;
      for (const { name, optional, evaluate } of fields) {
        const value = evaluate(frame);
        if (isError(value)) error = value;
        else if (!optional) values.set(name, value);
        else if (!(value instanceof Optional))
          error = new CelError(
            `cannot initialize optional entry '${name}' from non-optional value ${valueText(value)}`,
          );
        else if (value.value !== undefined) values.set(name, value.value);
        else values.delete(name);
        if (error) break;
      }
      frame.charge(STRUCT_COST);
      return error ?? (build ? build(values) : new CelError(`unknown type '${expr.type}'`));
    };
    return { evaluate };
  }

  #comprehension(expr: Comprehension): Planned {
    const init = this.plan(expr.accuInit).evaluate;
    const range = this.plan(expr.range).evaluate;
    const slot = this.slots;
    this.slots += 3;
    const read =
      (index: number): Evaluate =>
      (frame) =>
        frame.slots[index]!;
    // The accumulator is computed when it is first read: that of `optMap` may never be.
    const accu: Evaluate = (frame) => {
      const known = frame.slots[slot];
      if (known !== undefined) return known;
      const value = growable(init(frame));
      frame.slots[slot] = value;
      return value;
    };
    this.#scopes.push(new Map([[expr.accuVar, accu]]));
    const loop = new Map([[expr.iterVar, read(slot + 1)]]);
    if (expr.iterVar2 !== undefined) loop.set(expr.iterVar2, read(slot + 2));
    this.#scopes.push(loop);
    const condition = this.plan(expr.condition).evaluate;
    const step = this.plan(expr.step).evaluate;
    this.#scopes.pop();
    const result = this.plan(expr.result).evaluate;
    this.#scopes.pop();
    return { evaluate: planLoop({ slot, range, hasTwo: expr.iterVar2 !== undefined, condition, step, result }) };
  }
}

/** Loops that start from nothing can change what they build; nothing else sees it before they end. */
function growable(value: Value): Value {
  if (value instanceof ListValue && value.size === 0) return new GrowingList([]);
  return value instanceof MapValue && value.size === 0 ? new GrowingMap() : value;
}

function attribute(chain: Attribute): Planned {
  const evaluate: Evaluate = chain.isConditional
    ? (frame) => chain.resolve(frame)
    : (frame) => {
        const value = chain.resolve(frame);
        frame.charge(1);
        return value;
      };
  return { evaluate, attribute: chain };
}

function chainOf(planned: Planned): Attribute {
  return planned.attribute ?? new PlainAttribute(planned.evaluate);
}

/** A branch of a condition; a chain in it is resolved without paying for its name. */
function branchOf(planned: Planned): Attribute {
  return planned.attribute ?? new PlainAttribute(planned.evaluate);
}

function setOptional(map: MapValue, key: Value, value: Value): CelError | undefined {
  if (!(value instanceof Optional)) {
    const entry = `entry '${valueText(key)}' from non-optional value ${valueText(value)}`;
    return new CelError(`cannot initialize optional ${entry}`);
  }
  if (value.value === undefined) map.delete(key);
  else map.set(key, value.value);
  return undefined;
}

/** A list or map written out; of constants alone, it is built once and then free. */
function constructed(build: Evaluate, parts: readonly Planned[], cost: number): Planned {
  if (parts.every((part) => part.constant)) return fold({ evaluate: build });
  return {
    evaluate: (frame) => {
      const value = build(frame);
      frame.charge(cost);
      return value;
    },
  };
}

/** The value of an expression without variables. */
function fold({ evaluate }: Planned): Planned {
  const value = evaluate(new Frame({}, 0, Number.POSITIVE_INFINITY));
  if (isError(value)) throw new PlanError(value.message);
  return constant(value);
}

/** `&&` and `||`: the deciding value wins over an error on the other side. */
function logical(left: Evaluate, right: Evaluate, decisive: boolean): Evaluate {
  return (frame) => {
    const a = left(frame);
    if (a === decisive) return decisive;
    const b = right(frame);
    if (b === decisive) return decisive;
    if (typeof a !== "boolean") return noSuchOverload(a);
    return typeof b === "boolean" ? !decisive : noSuchOverload(b);
  };
}

function equality(left: Evaluate, right: Evaluate, isEquals: boolean): Evaluate {
  const cost = callCost(isEquals ? "_==_" : "_!=_", isEquals ? "equals" : "not_equals");
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    const error = isError(a) ? a : isError(b) ? b : undefined;
    const same = error ?? equal(a, b);
    const result = isEquals || error ? same : same !== true;
    frame.charge(cost([a, b], result));
    return result;
  };
}
