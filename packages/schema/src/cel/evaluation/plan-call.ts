import { type CallCost, type CallWork, callCost, callWork, dependsOnResult } from "../cost/runtime-cost.ts";
import { compilePattern } from "../library/regex.ts";
import type { FunctionDeclaration, Overload } from "../types/declarations.ts";
import type { Type } from "../types/types.ts";
import { keyOf } from "../values/collections.ts";
import { toDouble, toInt, toUint } from "../values/convert.ts";
import { equal } from "../values/equality.ts";
import {
  CelError,
  CelList,
  CelMap,
  isError,
  noSuchOverload,
  Optional,
  typeName,
  Uint,
  type Value,
} from "../values/values.ts";
import type { Evaluate } from "./attributes.ts";
import type { Frame } from "./frame.ts";
import { constant, PlanError, type Planned } from "./planned.ts";

/** A call whose arguments are planned. */
export interface PlannedCall {
  readonly fn: FunctionDeclaration;
  /** The overload that the types of the arguments leave, or empty when there are several. */
  readonly overload: string;
  readonly operands: readonly Planned[];
}

/** Plans a call of a function. */
export function planFunction(call: PlannedCall): Planned {
  const { fn, overload, operands } = call;
  if (fn.name === "or" || fn.name === "orValue") return { evaluate: optionalOr(call, fn.name === "orValue") };
  if (overload === "in_list" && operands[1]!.constant) {
    const membership = setMembership(operands[0]!, operands[1]!.constant.value as CelList);
    if (membership) return membership;
  }
  const cost: Price = { units: callCost(fn.name, overload), work: callWork(fn.name) };
  const isPrepared = hasConstantPattern(call);
  const run = isPrepared ? prepared(fn, overload) : implementation(fn, overload, operands.length);
  const evaluates = operands.map(({ evaluate }) => evaluate);
  // Calls that dispatch by their arguments' types stop at the first one that is an error, unpaid.
  const isVariadic = operands.length > 2 || isPrepared || fn.name === "format" || (overload === "" && !fn.run);
  if (isVariadic) return { evaluate: variadic(run, evaluates, cost) };
  if (fn.name === "@not_strictly_false") return { evaluate: nonStrict(run, evaluates[0]!, cost) };
  if (operands.length === 0) return { evaluate: nullary(run, cost) };
  return { evaluate: operands.length === 1 ? unary(run, evaluates[0]!, cost) : binary(run, evaluates, cost) };
}

type Run = (...args: Value[]) => Value;

/** What a call costs: as on a real server, and what it pays beyond that. */
interface Price {
  readonly units: CallCost;
  readonly work: CallWork | undefined;
}

function nullary(run: Run, cost: Price): Evaluate {
  return (frame) => {
    const result = run();
    frame.charge(cost.units([], result));
    return result;
  };
}

function unary(run: Run, arg: Evaluate, cost: Price): Evaluate {
  const call = paid(run, cost);
  return (frame) => {
    const a = arg(frame);
    return call(frame, [a], isError(a) ? a : undefined);
  };
}

function nonStrict(run: Run, arg: Evaluate, cost: Price): Evaluate {
  return (frame) => {
    const a = arg(frame);
    const result = run(a);
    frame.charge(cost.units([a], result));
    return result;
  };
}

function binary(run: Run, [left, right]: readonly Evaluate[], cost: Price): Evaluate {
  const call = paid(run, cost);
  return (frame) => {
    const a = left!(frame);
    const b = right!(frame);
    return call(frame, [a, b], isError(a) ? a : isError(b) ? b : undefined);
  };
}

function variadic(run: Run, evaluates: readonly Evaluate[], cost: Price): Evaluate {
  const call = paid(run, cost);
  return (frame) => {
    const args: Value[] = [];
    for (const [i, evaluate] of evaluates.entries()) {
      const arg = evaluate(frame);
      args.push(arg);
      if (!isError(arg)) continue;
      if (i === evaluates.length - 1) frame.charge(cost.units(args, arg));
      return arg;
    }
    return call(frame, args, undefined);
  };
}

/**
 * A call that is paid for before it runs where its arguments say what it costs: what is too expensive does not run at all.
 * `error` is the argument that is one.
 */
function paid(run: Run, { units, work }: Price): (frame: Frame, args: Value[], error: Value | undefined) => Value {
  const isPaidFirst = !dependsOnResult(units);
  return (frame, args, error) => {
    if (isPaidFirst) frame.charge(units(args, error ?? null));
    if (work) frame.chargeText(work(args));
    const result = error ?? run(...args);
    if (!isPaidFirst) frame.charge(units(args, result));
    frame.chargeResult(result);
    return result;
  };
}

/** What runs: the function's one implementation, that of the overload, or whichever fits the arguments. */
function implementation(fn: FunctionDeclaration, id: string, count: number): Run {
  if (fn.run) return fn.run;
  const overload = fn.overloads.find((candidate) => candidate.id === id);
  if (overload) return guarded(fn, [overload], count);
  return guarded(
    fn,
    fn.overloads.filter(({ args }) => args.length === count),
    count,
  );
}

function guarded(fn: FunctionDeclaration, overloads: readonly Overload[], count: number): Run {
  if (fn.isUnguarded && overloads.length === 1) return overloads[0]!.run!;
  return (...args) => {
    for (const overload of overloads) {
      if (
        overload.args.length === count &&
        (fn.isUnguarded || overload.args.every((type, i) => accepts(type, args[i]!)))
      )
        return overload.run!(...args);
    }
    return new CelError(`no such overload: ${fn.name}(${args.map(typeName).join(", ")})`);
  };
}

/** Whether a value is of a type as far as that shows at run time: of collections the first element is looked at. */
function accepts(type: Type, value: Value): boolean {
  switch (type.kind) {
    case "dyn":
    case "any":
    case "param":
      return true;
    case "list":
      return value instanceof CelList && (value.size === 0 || accepts(type.params[0]!, value.at(0)));
    case "map": {
      if (!(value instanceof CelMap)) return false;
      for (const key of value.keys())
        return accepts(type.params[0]!, key) && accepts(type.params[1]!, value.find(key)!);
      return true;
    }
    default:
      return type.name === typeName(value);
  }
}

const PATTERN_FUNCTIONS = new Set(["matches", "find", "findAll"]);

/** Whether the call has a pattern that can be compiled beforehand; throws when it is wrong. */
function hasConstantPattern({ fn, operands }: PlannedCall): boolean {
  const pattern = PATTERN_FUNCTIONS.has(fn.name) ? operands[1]?.constant?.value : undefined;
  if (typeof pattern !== "string") return false;
  const compiled = compilePattern(pattern);
  if (compiled instanceof CelError) throw new PlanError(compiled.message);
  return true;
}

/** A search with a pattern that is known to be right: only the text can still be none. Optionals pass for their value. */
function prepared(fn: FunctionDeclaration, id: string): Run {
  const run = fn.run ?? fn.overloads.find((overload) => overload.id === id)?.run ?? fn.overloads[0]!.run!;
  return (first, ...rest) => {
    const text = first instanceof Optional ? first.value : first;
    return typeof text === "string" ? run(text, ...rest) : noSuchOverload();
  };
}

/** `a.or(b)` and `a.orValue(b)`: the second is evaluated only if the first has no value. */
function optionalOr({ operands }: PlannedCall, unwraps: boolean): Evaluate {
  const [left, right] = operands.map(({ evaluate }) => evaluate) as [Evaluate, Evaluate];
  return (frame) => {
    const optional = left(frame);
    if (!(optional instanceof Optional)) return optional;
    if (optional.value === undefined) return right(frame);
    return unwraps ? optional.value : optional;
  };
}

/** `x in ["a", "b"]`: a set made beforehand, whose use is free. Undefined where the elements do not allow that. */
function setMembership(item: Planned, list: CelList): Planned | undefined {
  if (list.size === 0) return constant(false);
  const members = new Set<unknown>();
  for (const element of list) {
    const isSimple = (typeof element !== "object" || element instanceof Uint) && !(element instanceof Uint8Array);
    if (!isSimple) return undefined;
    members.add(keyOf(element));
    for (const convert of [toInt, toUint, toDouble]) {
      if (typeof element === "string" || typeof element === "boolean") continue;
      const same = convert(element);
      if (!isError(same) && (typeof element !== "number" || equal(same, element) === true)) members.add(keyOf(same));
    }
  }
  const { evaluate } = item;
  return {
    evaluate: (frame) => {
      const value = evaluate(frame);
      return isError(value) ? value : members.has(keyOf(value));
    },
  };
}
