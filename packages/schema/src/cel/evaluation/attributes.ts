/**
 * Names with what is selected from them: `self.spec.items[0].?name`. Such a chain is resolved as a whole, since optional
 * selection anywhere in it makes all of it optional.
 */

import { unwrapOptional } from "../values/json-value.ts";
import { valueText } from "../values/value-text.ts";
import {
  CelError,
  CelList,
  CelMap,
  goTypeName,
  isError,
  noSuchOverload,
  Opaque,
  Optional,
  typeName,
  Uint,
  type Value,
} from "../values/values.ts";
import type { Frame } from "./frame.ts";

/** A planned part of an expression: computes its value. */
export type Evaluate = (frame: Frame) => Value;

/** A value whose fields can be selected though it is neither a map nor of the schema's making. */
export interface Selectable {
  select(field: string): Value | undefined;
}

/** What a field or index of a value is; undefined when it has none. */
function find(value: Value, key: Value): Value | undefined {
  if (value instanceof CelMap) return value.find(key);
  if (value instanceof CelList) return findItem(value, key);
  if (isError(value)) return value;
  if (value instanceof Opaque && "select" in value && typeof key === "string")
    return (value as unknown as Selectable).select(key);
  return undefined;
}

function findItem(list: CelList, key: Value): Value | undefined {
  const index = indexOf(key);
  if (typeof index !== "number") return index;
  if (index < 0 || index >= list.size) return undefined;
  if (list.takesOnlyInts && typeof key !== "bigint") return new CelError(`unsupported index: ${valueText(key)}`);
  return list.at(index);
}

function indexOf(key: Value): number | CelError {
  if (typeof key === "bigint") return Number(key);
  const number = key instanceof Uint ? Number(key.value) : key;
  if (typeof number !== "number") return new CelError(`unsupported index type '${typeName(key)}' in list`);
  const isIndex = Number.isInteger(number) && Math.abs(number) < 2 ** 63;
  // The largest uints round up to a double beyond 63 bits although they fit.
  if (isIndex || (key instanceof Uint && key.value < 2n ** 63n)) return number;
  return new CelError(`unsupported index value ${valueText(key)} in list`);
}

function missing(value: Value, key: Value): CelError {
  return new CelError(
    value instanceof CelList ? `index out of bounds: ${valueText(key)}` : `no such key: ${valueText(key)}`,
  );
}

/** One step from a value to a part of it. */
export interface Qualifier {
  /** Written with a `?`. */
  readonly isOptional: boolean;
  /** The part, or the error that there is none. */
  get(frame: Frame, value: Value): Value;
  /** The part, or undefined. */
  find(frame: Frame, value: Value): Value | undefined;
}

/** A step to a field or index known beforehand. */
export class ConstantQualifier implements Qualifier {
  readonly isOptional: boolean;
  readonly key: Value;
  constructor(key: Value, isOptional: boolean) {
    this.key = key;
    this.isOptional = isOptional;
  }

  get(frame: Frame, value: Value): Value {
    const found = find(value, this.key);
    frame.charge(1);
    return found === undefined ? missing(value, this.key) : found;
  }

  find(frame: Frame, value: Value): Value | undefined {
    const found = find(value, this.key);
    if (found !== undefined && !isError(found)) frame.charge(1);
    return found;
  }
}

/** A step to a field or index that is computed. */
export class ComputedQualifier implements Qualifier {
  readonly isOptional: boolean;
  readonly #key: Evaluate;
  constructor(key: Evaluate, isOptional: boolean) {
    this.#key = key;
    this.isOptional = isOptional;
  }

  #keyOf(frame: Frame): Value {
    const key = this.#key(frame);
    return isError(key) || isKey(key) ? key : new CelError(invalidQualifier(key));
  }

  get(frame: Frame, value: Value): Value {
    const key = this.#keyOf(frame);
    const found = isError(key) ? key : find(value, key);
    frame.charge(1);
    return found === undefined ? missing(value, key) : found;
  }

  find(frame: Frame, value: Value): Value | undefined {
    const key = this.#keyOf(frame);
    const found = isError(key) ? key : find(value, key);
    if (found !== undefined && !isError(found)) frame.charge(1);
    return found;
  }
}

/** Whether a value can be a key or an index at all. */
export function isKey(value: Value): boolean {
  return typeof value !== "object" || value instanceof Uint;
}

/** The message about a value that can be no key. */
export function invalidQualifier(value: Value): string {
  return `invalid qualifier type: ${goTypeName(value)}`;
}

/** The last step of `has()`: not to the field, but to whether it is there. */
export class PresenceQualifier implements Qualifier {
  readonly isOptional = false;
  readonly #key: string;
  constructor(key: string) {
    this.#key = key;
  }

  get(frame: Frame, value: Value): Value {
    const found = find(value, this.#key);
    frame.charge(1);
    return found !== undefined && isError(found) ? found : found !== undefined;
  }

  find(frame: Frame, value: Value): Value | undefined {
    const found = find(value, this.#key);
    if (found !== undefined && !isError(found)) frame.charge(1);
    return found;
  }
}

/** A chain that can still be extended while an expression is planned. */
export interface Attribute {
  readonly isConditional: boolean;
  add(qualifier: Qualifier): void;
  resolve(frame: Frame): Value;
}

/** A chain that begins with a variable or with the result of an expression. */
export class PlainAttribute implements Attribute {
  readonly isConditional = false;
  readonly #base: Evaluate;
  readonly #qualifiers: Qualifier[] = [];

  constructor(base: Evaluate) {
    this.#base = base;
  }

  add(qualifier: Qualifier): void {
    this.#qualifiers.push(qualifier);
  }

  resolve(frame: Frame): Value {
    let value = this.#base(frame);
    const qualifiers = this.#qualifiers;
    if (qualifiers.length === 0 || isError(value)) return value;
    let isOptional = value instanceof Optional;
    if (value instanceof Optional) {
      if (value.value === undefined) return value;
      value = unwrapOptional(value.value);
    }
    for (let i = 0; i < qualifiers.length; i++) {
      const qualifier = qualifiers[i]!;
      isOptional ||= qualifier.isOptional;
      if (isOptional) {
        const found = qualifier.find(frame, value);
        if (found === undefined) return Optional.none;
        value = found;
      } else value = qualifier.get(frame, value);
      if (isError(value)) return value;
    }
    return isOptional ? new Optional(value) : value;
  }
}

/** `(condition ? a : b).c`: what is selected is selected from either branch. */
export class ConditionalAttribute implements Attribute {
  readonly isConditional = true;
  readonly #condition: Evaluate;
  readonly #yes: Attribute;
  readonly #no: Attribute;

  constructor(condition: Evaluate, yes: Attribute, no: Attribute) {
    this.#condition = condition;
    this.#yes = yes;
    this.#no = no;
  }

  add(qualifier: Qualifier): void {
    this.#yes.add(qualifier);
    this.#no.add(qualifier);
  }

  resolve(frame: Frame): Value {
    const condition = this.#condition(frame);
    if (condition === true) return this.#yes.resolve(frame);
    return condition === false ? this.#no.resolve(frame) : noSuchOverload(condition);
  }
}
