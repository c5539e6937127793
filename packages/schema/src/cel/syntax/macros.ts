/**
 * Macros: calls that stand for more than a call. All of them are expanded while parsing, so that everything after knows
 * only comprehensions, conditions and presence tests.
 */

import type { Value } from "../values/values.ts";
import type { Expr, MapEntry } from "./ast.ts";

/** A macro was called in a way it cannot be expanded; `id` is the node to point at. */
export class MacroError extends Error {
  readonly id: number;
  constructor(id: number, message: string) {
    super(message);
    this.id = id;
  }
}

/** The name of the accumulator in loops; no expression can spell it. */
const ACCUMULATOR = "@result";

/** Makes the nodes that macros expand to; all of them lie where the macro was called. */
export class MacroBuilder {
  readonly #newId: (offset: number | undefined) => number;
  readonly #offsetOf: (id: number) => number | undefined;
  #callId = 0;

  constructor(newId: (offset: number | undefined) => number, offsetOf: (id: number) => number | undefined) {
    this.#newId = newId;
    this.#offsetOf = offsetOf;
  }

  expandAt(callId: number): void {
    this.#callId = callId;
  }

  #id(): number {
    return this.#newId(this.#offsetOf(this.#callId));
  }

  literal(value: Value): Expr {
    return { kind: "literal", id: this.#id(), value };
  }

  ident(name: string): Expr {
    return { kind: "ident", id: this.#id(), name };
  }

  accu(): Expr {
    return this.ident(ACCUMULATOR);
  }

  list(...items: Expr[]): Expr {
    return { kind: "list", id: this.#id(), items, optionals: [] };
  }

  emptyMap(): Expr {
    return { kind: "map", id: this.#id(), entries: [] };
  }

  call(fn: string, ...args: Expr[]): Expr {
    return { kind: "call", id: this.#id(), fn, target: undefined, args };
  }

  method(fn: string, target: Expr, ...args: Expr[]): Expr {
    return { kind: "call", id: this.#id(), fn, target, args };
  }

  presence(operand: Expr, field: string): Expr {
    return { kind: "select", id: this.#id(), operand, field, testOnly: true };
  }

  fold(
    range: Expr,
    [iterVar, iterVar2]: readonly [string, string?],
    accuInit: Expr,
    condition: Expr,
    step: Expr,
    result: Expr,
    accuVar = ACCUMULATOR,
  ): Expr {
    const id = this.#id();
    return { kind: "comprehension", id, range, iterVar, iterVar2, accuVar, accuInit, condition, step, result };
  }

  /** A copy of the expression with new nodes. */
  copy(expr: Expr): Expr {
    const id = this.#newId(this.#offsetOf(expr.id));
    switch (expr.kind) {
      case "select":
        return { ...expr, id, operand: this.copy(expr.operand) };
      case "call": {
        const args = expr.args.map((arg) => this.copy(arg));
        return { ...expr, id, args, target: expr.target && this.copy(expr.target) };
      }
      case "list":
        return { ...expr, id, items: expr.items.map((item) => this.copy(item)) };
      case "map":
        return { ...expr, id, entries: expr.entries.map((entry) => this.#copyEntry(entry)) };
      case "struct":
        return {
          ...expr,
          id,
          fields: expr.fields.map((field) => ({ ...field, id: this.#id(), value: this.copy(field.value) })),
        };
      case "comprehension": {
        const range = this.copy(expr.range);
        const accuInit = this.copy(expr.accuInit);
        const condition = this.copy(expr.condition);
        const step = this.copy(expr.step);
        return { ...expr, id, range, accuInit, condition, step, result: this.copy(expr.result) };
      }
      default:
        return { ...expr, id };
    }
  }

  #copyEntry(entry: MapEntry): MapEntry {
    return { ...entry, id: this.#id(), key: this.copy(entry.key), value: this.copy(entry.value) };
  }
}

type Expander = (make: MacroBuilder, target: Expr, args: readonly Expr[]) => Expr;

/** Expands a call if it is one of a macro. */
export function expandMacro(
  make: MacroBuilder,
  id: number,
  fn: string,
  target: Expr | undefined,
  args: readonly Expr[],
): Expr | undefined {
  const key = `${fn}:${args.length}`;
  const expander = target ? METHODS.get(key) : key === "has:1" ? has : undefined;
  if (!expander) return undefined;
  make.expandAt(id);
  return expander(make, target!, args);
}

const has: Expander = (make, _target, [arg]) => {
  if (arg?.kind !== "select") throw new MacroError(arg!.id, "invalid argument to has() macro");
  return make.presence(arg.operand, arg.field);
};

type Variables = (args: readonly Expr[]) => readonly [string, string?];

function variable(arg: Expr, problem: string): string {
  if (arg.kind !== "ident") throw new MacroError(arg.id, problem);
  if (arg.name === ACCUMULATOR || arg.name === "__result__")
    throw new MacroError(arg.id, "iteration variable overwrites accumulator variable");
  return arg.name;
}

const SIMPLE_NAME = "argument must be a simple name";
const oneName: Variables = ([a]) => [variable(a!, SIMPLE_NAME)];
const oneIdentifier: Variables = ([a]) => [variable(a!, "argument is not an identifier")];
const twoNames: Variables = ([a, b]) => {
  for (const arg of [a!, b!]) if (arg.kind !== "ident") throw new MacroError(arg.id, SIMPLE_NAME);
  const names = [a, b].map((arg) => (arg as { name: string }).name);
  if (names[0] === names[1]) throw new MacroError(b!.id, `duplicate variable name: ${names[0]}`);
  return [variable(a!, SIMPLE_NAME), variable(b!, SIMPLE_NAME)];
};

const all =
  (variables: Variables): Expander =>
  (make, range, args) => {
    const names = variables(args);
    const init = make.literal(true);
    const condition = make.call("@not_strictly_false", make.accu());
    const step = make.call("_&&_", make.accu(), args.at(-1)!);
    return make.fold(range, names, init, condition, step, make.accu());
  };

const exists =
  (variables: Variables): Expander =>
  (make, range, args) => {
    const names = variables(args);
    const init = make.literal(false);
    const condition = make.call("@not_strictly_false", make.call("!_", make.accu()));
    const step = make.call("_||_", make.accu(), args.at(-1)!);
    return make.fold(range, names, init, condition, step, make.accu());
  };

const existsOne =
  (variables: Variables): Expander =>
  (make, range, args) => {
    const names = variables(args);
    const init = make.literal(0n);
    const condition = make.literal(true);
    const more = make.call("_+_", make.accu(), make.literal(1n));
    const step = make.call("_?_:_", args.at(-1)!, more, make.accu());
    return make.fold(range, names, init, condition, step, make.call("_==_", make.accu(), make.literal(1n)));
  };

/** Loops that build a list or a map, from all elements or from those that a filter accepts. */
const collect =
  (
    variables: Variables,
    empty: (make: MacroBuilder) => Expr,
    add: (make: MacroBuilder, names: readonly [string, string?], transform: Expr) => Expr,
  ): Expander =>
  (make, range, args) => {
    const names = variables(args);
    const [transform, filter] = args.slice(names[1] === undefined ? 1 : 2).reverse();
    const init = empty(make);
    const condition = make.literal(true);
    const added = add(make, names, transform!);
    const step = filter ? make.call("_?_:_", filter, added, make.accu()) : added;
    return make.fold(range, names, init, condition, step, make.accu());
  };

const append = (make: MacroBuilder, _names: unknown, item: Expr) => make.call("_+_", make.accu(), make.list(item));
const emptyList = (make: MacroBuilder) => make.list();
const emptyMap = (make: MacroBuilder) => make.emptyMap();
const map = collect(oneIdentifier, emptyList, append);
const transformList = collect(twoNames, emptyList, append);
const transformMap = collect(twoNames, emptyMap, (make, names, value) =>
  make.call("cel.@mapInsert", make.accu(), make.ident(names[0]), value),
);
const transformMapEntry = collect(twoNames, emptyMap, (make, _names, entry) =>
  make.call("cel.@mapInsert", make.accu(), entry),
);

const filter: Expander = (make, range, args) => {
  const names = oneIdentifier(args);
  const init = make.list();
  const condition = make.literal(true);
  const added = make.call("_+_", make.accu(), make.list(args[0]!));
  const step = make.call("_?_:_", args[1]!, added, make.accu());
  return make.fold(range, names, init, condition, step, make.accu());
};

/** Evaluates `result` with `name` standing for `value`: a loop over nothing whose accumulator is the variable. */
function bind(make: MacroBuilder, name: string, value: () => Expr, step: () => Expr, result: Expr): Expr {
  return make.fold(make.list(), ["#unused"], value(), make.literal(false), step(), result, name);
}

const optionalMap =
  (macro: string, wrap: (make: MacroBuilder, value: Expr) => Expr): Expander =>
  (make, target, args) => {
    const [name, body] = args as [Expr, Expr];
    if (name.kind !== "ident") throw new MacroError(name.id, `${macro}() variable name must be a simple identifier`);
    const hasValue = make.method("hasValue", target);
    const value = () => make.method("value", make.copy(target));
    const bound = bind(make, name.name, value, () => make.ident(name.name), body);
    return make.call("_?_:_", hasValue, wrap(make, bound), make.call("optional.none"));
  };

const sortBy: Expander = (make, target, args) => {
  const name = "@__sortBy_input__";
  const input = make.ident(name);
  if (target.kind === "literal" || target.kind === "map" || target.kind === "struct" || target.kind === "unspecified") {
    const problem = "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
    throw new MacroError(target.id, problem);
  }
  const keys = map(make, make.copy(input), args);
  const sorted = make.method("@sortByAssociatedKeys", make.copy(input), keys);
  return bind(
    make,
    name,
    () => target,
    () => input,
    sorted,
  );
};

/** Macros called on a value, by name and number of arguments. */
const METHODS: ReadonlyMap<string, Expander> = new Map([
  ["all:2", all(oneName)],
  ["all:3", all(twoNames)],
  ["exists:2", exists(oneName)],
  ["exists:3", exists(twoNames)],
  ["exists_one:2", existsOne(oneName)],
  ["exists_one:3", existsOne(twoNames)],
  ["existsOne:3", existsOne(twoNames)],
  ["map:2", map],
  ["map:3", map],
  ["filter:2", filter],
  ["transformList:3", transformList],
  ["transformList:4", transformList],
  ["transformMap:3", transformMap],
  ["transformMap:4", transformMap],
  ["transformMapEntry:3", transformMapEntry],
  ["transformMapEntry:4", transformMapEntry],
  ["optMap:2", optionalMap("optMap", (make, value) => make.call("optional.of", value))],
  ["optFlatMap:2", optionalMap("optFlatMap", (_make, value) => value)],
  ["sortBy:2", sortBy],
]);
