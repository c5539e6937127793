import { equal, equalAs } from "./equality.ts";
import { CelList, CelMap, Duration, isError, noSuchOverload, Timestamp, Uint, type Value } from "./values.ts";

/** A list whose equality and membership are those of lists written in CEL. */
export abstract class PlainList extends CelList {
  contains(value: Value): Value {
    for (let i = 0; i < this.size; i++) if (equalAs(value, this.at(i)) === true) return true;
    return false;
  }

  equal(other: Value): Value {
    if (!(other instanceof CelList) || other.size !== this.size) return false;
    for (let i = 0; i < this.size; i++) if (equal(this.at(i), other.at(i)) === false) return false;
    return true;
  }

  plus(other: Value): Value {
    if (!(other instanceof CelList)) return noSuchOverload(other);
    if (this.size === 0) return other;
    return other.size === 0 ? this : new JoinedList(this, other);
  }
}

/** A list of values at hand. */
export class ListValue extends PlainList {
  readonly items: Value[];
  constructor(items: Value[]) {
    super();
    this.items = items;
  }
  get size(): number {
    return this.items.length;
  }
  at(index: number): Value {
    return this.items[index]!;
  }
}

/** The accumulator of loops that build a list: adding to it changes it, because nothing else references it yet. */
export class GrowingList extends ListValue {
  override plus(other: Value): Value {
    if (!(other instanceof CelList)) return noSuchOverload(other);
    for (let i = 0; i < other.size; i++) this.items.push(other.at(i));
    return this;
  }
}

/** Two lists as one. */
class JoinedList extends PlainList {
  readonly size: number;
  readonly #first: CelList;
  readonly #second: CelList;
  constructor(first: CelList, second: CelList) {
    super();
    this.#first = first;
    this.#second = second;
    this.size = first.size + second.size;
  }

  at(index: number): Value {
    return index < this.#first.size ? this.#first.at(index) : this.#second.at(index - this.#first.size);
  }

  override contains(value: Value): Value {
    const inFirst = this.#first.contains(value);
    if (inFirst === true) return true;
    const inSecond = this.#second.contains(value);
    return inSecond !== true && isError(inFirst) ? inFirst : inSecond;
  }

  override equal(other: Value): Value {
    if (!(other instanceof CelList) || other.size !== this.size) return false;
    let error: Value | undefined;
    for (let i = 0; i < this.size; i++) {
      const same = equal(this.at(i), other.at(i));
      if (same === false) return false;
      if (isError(same)) error ??= same;
    }
    return error ?? true;
  }
}

/** A map whose equality is that of maps written in CEL. */
export abstract class PlainMap extends CelMap {
  equal(other: Value): Value {
    if (!(other instanceof CelMap) || other.size !== this.size) return false;
    for (const key of this.keys()) {
      const theirs = other.find(key);
      if (theirs === undefined || equal(this.find(key)!, theirs) === false) return false;
    }
    return true;
  }
}

/** A map of values at hand. Keys are bools, ints, uints, strings; the three kinds of number find each other. */
export class MapValue extends PlainMap {
  readonly #entries = new Map<unknown, [key: Value, value: Value]>();

  get size(): number {
    return this.#entries.size;
  }

  find(key: Value): Value | undefined {
    const exact = this.#entries.get(keyOf(key));
    if (exact) return exact[1];
    for (const other of numbersEqualTo(key)) {
      const entry = this.#entries.get(keyOf(other));
      if (entry) return entry[1];
    }
    return undefined;
  }

  /** Adds or replaces; only while the map is being built. */
  set(key: Value, value: Value): void {
    this.#entries.set(keyOf(key), [key, value]);
  }

  delete(key: Value): void {
    this.#entries.delete(keyOf(key));
  }

  *keys(): Generator<Value> {
    for (const [key] of this.#entries.values()) yield key;
  }
}

/** The accumulator of loops that build a map; see {@link GrowingList}. */
export class GrowingMap extends MapValue {}

/** What a value is as a key of a JavaScript Map or Set: bigint and number are distinct there as int and double are here. */
export function keyOf(key: Value): unknown {
  if (typeof key === "string") return `s${key}`;
  if (key instanceof Uint) return `u${key.value}`;
  if (key instanceof Duration) return `d${key.nanos}`;
  return key instanceof Timestamp ? `t${key.seconds}.${key.nanos}` : key;
}

const INT_MAX = 2n ** 63n - 1n;

/** The numbers of other types that are the same key. Keys are never doubles, so those are not looked for. */
function numbersEqualTo(key: Value): Value[] {
  if (typeof key === "bigint") return key >= 0n ? [new Uint(key)] : [];
  if (key instanceof Uint) return key.value <= INT_MAX ? [key.value] : [];
  if (typeof key !== "number" || !Number.isInteger(key)) return [];
  const whole = BigInt(key);
  const fitsInt = key > -(2 ** 63) && key < 2 ** 63;
  const fitsUint = key >= 0 && key < 2 ** 64;
  return [...(fitsInt ? [whole] : []), ...(fitsUint ? [new Uint(whole)] : [])];
}
