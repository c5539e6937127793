/** Data as the values that its schema makes of it. Objects and arrays are viewed, not copied. */
import { deepEqual, goType, isObject, type Schema, WholeFloat } from "@konverge/core";
import { escapeName, unescapeName } from "../types/escape.ts";
import { describesMetadata } from "../types/schema-types.ts";
import { equalAs } from "../values/equality.ts";
import { isView, type View } from "../values/json-value.ts";
import { CelError, CelList, CelMap, isError, noSuchOverload, Opaque, type Value } from "../values/values.ts";
import { readString } from "./string-formats.ts";

/** Makes a value of data. */
export type Convert = (raw: unknown) => Value;

const converters = new WeakMap<Schema, Convert>();
const resourceConverters = new WeakMap<Schema, Convert>();

/** How data of a schema becomes a value; `isResource` for the root of one, where kind and name are always visible. */
export function converterOf(schema: Schema, isResource = schema["x-kubernetes-embedded-resource"] === true): Convert {
  const known = isResource ? resourceConverters : converters;
  let converter = known.get(schema);
  if (!converter) {
    const convert = typedConverter(schema, isResource);
    const isNullable = schema.nullable === true;
    converter = (raw) => (raw === null || raw === undefined ? nullValue(isNullable) : convert(raw));
    known.set(schema, converter);
  }
  return converter;
}

function nullValue(isNullable: boolean): Value {
  return isNullable ? null : new CelError("invalid data, got null for schema with nullable=false");
}

const isWhole = (raw: unknown): raw is number | bigint => typeof raw === "bigint" || Number.isInteger(raw);

function typedConverter(schema: Schema, isResource: boolean): Convert {
  if (schema["x-kubernetes-int-or-string"]) {
    const problem = "invalid data, expected XIntOrString value to be either a string or integer";
    return (raw) => (typeof raw === "string" ? raw : isWhole(raw) ? BigInt(raw) : new CelError(problem));
  }
  const expected = (what: string) => (raw: unknown) =>
    new CelError(`invalid data, expected ${what}, got ${goType(raw)}`);
  switch (schema.type) {
    case "object": {
      const shape = shapeOf(schema, isResource);
      const problem = "invalid data, expected a map for the provided schema with type=object";
      return (raw) => (isObject(raw) ? new DataMap(raw, shape) : new CelError(problem));
    }
    case "array":
      return arrayConverter(schema);
    case "string": {
      const read = readString(schema.format);
      const wrong = expected("string");
      return (raw) => (typeof raw === "string" ? read(raw) : wrong(raw));
    }
    case "number": {
      const wrong = expected("float");
      return (raw) => {
        if (typeof raw === "number" || typeof raw === "bigint") return Number(raw);
        return raw instanceof WholeFloat ? raw.value : wrong(raw);
      };
    }
    case "integer": {
      const wrong = expected("int");
      return (raw) => (isWhole(raw) ? BigInt(raw) : wrong(raw));
    }
    case "boolean": {
      const wrong = expected("bool");
      return (raw) => (typeof raw === "boolean" ? raw : wrong(raw));
    }
    default: {
      if (schema["x-kubernetes-preserve-unknown-fields"]) return (raw) => new Preserved(raw);
      const types = "object, array, number, integer, boolean or string, or no type with x-kubernetes-int-or-string";
      const problem = `invalid type, expected ${types} or x-kubernetes-preserve-unknown-fields is true, got `;
      return () => new CelError(problem);
    }
  }
}

/** Data that no schema describes: it can be compared and nothing else. */
class Preserved extends Opaque implements View {
  readonly typeName = "unknown";
  readonly raw: unknown;
  constructor(raw: unknown) {
    super();
    this.raw = raw;
  }
  equal(other: Value): Value {
    return deepEqual(this.raw, nativeOf(other));
  }
}

/** What a value is outside of expressions: data itself, or a scalar; other values stand for themselves. */
function nativeOf(value: Value): unknown {
  return isView(value) ? value.raw : value;
}

interface Shape {
  /** Has named fields, rather than being a map of values that are all alike. */
  readonly isObject: boolean;
  convert(key: string): Convert | undefined;
}

const METADATA: Schema = {
  type: "object",
  properties: { name: { type: "string" }, generateName: { type: "string" } },
};
const IMPLIED: Record<string, Schema> = {
  kind: { type: "string" },
  apiVersion: { type: "string" },
  metadata: METADATA,
};

function shapeOf(schema: Schema, isResource: boolean): Shape {
  const hasProperties = Object.keys(schema.properties ?? {}).length > 0;
  if (isResource || hasProperties) {
    const implied = isResource && !describesMetadata(schema) ? IMPLIED : {};
    const known = new Map<string, Convert | undefined>();
    return {
      isObject: true,
      convert(key) {
        if (!known.has(key)) {
          const property = Object.hasOwn(implied, key)
            ? implied[key]
            : schema.properties && Object.hasOwn(schema.properties, key)
              ? schema.properties[key]
              : undefined;
          known.set(key, property && converterOf(property));
        }
        return known.get(key);
      },
    };
  }
  if (typeof schema.additionalProperties === "object") {
    const convert = converterOf(schema.additionalProperties);
    return { isObject: false, convert: () => convert };
  }
  return { isObject: false, convert: () => undefined };
}

class DataMap extends CelMap implements View {
  override get goType(): string {
    return "*common.unstructuredMap";
  }

  readonly raw: Readonly<Record<string, unknown>>;
  readonly #shape: Shape;

  constructor(raw: Readonly<Record<string, unknown>>, shape: Shape) {
    super();
    this.raw = raw;
    this.#shape = shape;
  }

  get size(): number {
    return Object.keys(this.raw).length;
  }

  find(key: Value): Value | undefined {
    if (typeof key !== "string") return noSuchOverload(key);
    const name = this.#shape.isObject ? unescapeName(key) : key;
    if (name === undefined || !Object.hasOwn(this.raw, name)) return undefined;
    const raw = this.raw[name];
    // A field that is null counts as absent; an entry of a map that is null does not.
    if (this.#shape.isObject && (raw === null || raw === undefined)) return undefined;
    return this.#shape.convert(name)?.(raw);
  }

  *keys(): Generator<Value> {
    for (const key of Object.keys(this.raw)) {
      if (this.#shape.convert(key)) yield this.#shape.isObject ? (escapeName(key) ?? key) : key;
    }
  }

  equal(other: Value): Value {
    if (!(other instanceof CelMap)) return noSuchOverload(other);
    if (other.size !== this.size) return false;
    for (const [key, raw] of Object.entries(this.raw)) {
      if (!this.#shape.convert(key)) {
        // Fields that the schema does not know are compared as they are, where both sides have them.
        if (!(other instanceof DataMap)) return noSuchOverload(other);
        if (Object.hasOwn(other.raw, key) && !deepEqual(raw, other.raw[key])) return false;
        continue;
      }
      const [mine, theirs] = [this.find(key), other.find(key)];
      if ((mine === undefined) !== (theirs === undefined)) return false;
      if (mine === undefined) continue;
      const same = equalAs(mine, theirs!);
      if (same !== true) return same;
    }
    return true;
  }
}

function arrayConverter(schema: Schema): Convert {
  const problem = "invalid data, expected an array for the provided schema with type=array";
  if (!schema.items) return () => new CelError("invalid array type, expected Items with a non-empty Schema");
  const convert = converterOf(schema.items);
  const make = listMaker(schema, convert);
  return (raw) => (Array.isArray(raw) ? make(raw) : new CelError(problem));
}

function listMaker(schema: Schema, convert: Convert): (raw: readonly unknown[]) => Value {
  switch (schema["x-kubernetes-list-type"]) {
    case "map": {
      // The escaped names are looked up in the data as they are: keys that need escaping are found in no item.
      const keys = (schema["x-kubernetes-list-map-keys"] ?? []).map((key) => escapeName(key) ?? key);
      return (raw) => new DataMapList(raw, convert, keys);
    }
    case "set":
      return (raw) => new DataSet(raw, convert);
    default:
      return (raw) => new DataList(raw, convert);
  }
}

class DataList extends CelList implements View {
  override get goType(): string {
    return "*common.unstructuredList";
  }

  override readonly takesOnlyInts = true;
  readonly raw: readonly unknown[];
  protected readonly convert: Convert;

  constructor(raw: readonly unknown[], convert: Convert) {
    super();
    this.raw = raw;
    this.convert = convert;
  }

  get size(): number {
    return this.raw.length;
  }

  at(index: number): Value {
    return this.convert(this.raw[index]);
  }

  contains(value: Value): Value {
    let error: Value | undefined;
    for (let i = 0; i < this.raw.length; i++) {
      const same = equalAs(this.at(i), value);
      if (same === true) return true;
      if (isError(same)) error ??= same;
    }
    return error ?? false;
  }

  equal(other: Value): Value {
    if (!(other instanceof CelList)) return noSuchOverload(other);
    if (other.size !== this.size) return false;
    for (let i = 0; i < this.size; i++) {
      const same = equalAs(this.at(i), other.at(i));
      if (same !== true) return same;
    }
    return true;
  }

  plus(other: Value): Value {
    if (!(other instanceof CelList)) return noSuchOverload(other);
    return new DataList([...this.raw, ...[...other].map(nativeOf)], this.convert);
  }
}

/** What distinguishes an item of a set: its Go type counts, in which a double differs from the int it was read as. */
function setKey(native: unknown): string {
  if (native instanceof WholeFloat) return `float ${native.value}`;
  if (typeof native === "number") return Number.isInteger(native) ? `int ${native}` : `float ${native}`;
  return typeof native === "bigint" ? `int ${native}` : `${typeof native} ${String(native)}`;
}

/** The key of an item once it is a value. */
function setKeyOfValue(value: Value): string {
  return typeof value === "number" ? `float ${value}` : setKey(nativeOf(value));
}

/** A list of which the order does not count and every item is there once. */
class DataSet extends DataList {
  override get goType(): string {
    return "*common.unstructuredSetList";
  }

  #keys: Set<string> | undefined;

  #items(): Set<string> {
    this.#keys ??= new Set(this.raw.map(setKey));
    return this.#keys;
  }

  override equal(other: Value): Value {
    if (!(other instanceof CelList)) return noSuchOverload(other);
    if (other.size !== this.size) return false;
    const keys = this.#items();
    for (const item of other) if (!keys.has(setKeyOfValue(item))) return false;
    return true;
  }

  override plus(other: Value): Value {
    if (!(other instanceof CelList)) return noSuchOverload(other);
    const keys = new Set(this.#items());
    const items = [...this.raw];
    for (const item of other) {
      const key = setKeyOfValue(item);
      if (keys.has(key)) continue;
      keys.add(key);
      items.push(nativeOf(item));
    }
    return new DataSet(items, this.convert);
  }
}

/** A list of objects that are distinguished by some of their fields, in any order. */
class DataMapList extends DataList {
  override get goType(): string {
    return "*common.unstructuredMapList";
  }

  readonly #keys: readonly string[];

  constructor(raw: readonly unknown[], convert: Convert, keys: readonly string[]) {
    super(raw, convert);
    this.#keys = keys;
  }

  #keyOf(item: unknown): string | undefined {
    if (!isObject(item)) return undefined;
    return JSON.stringify(this.#keys.map((key) => (item[key] === undefined ? null : setKey(item[key]))));
  }

  override equal(other: Value): Value {
    if (!(other instanceof CelList)) return noSuchOverload(other);
    if (other.size !== this.size) return false;
    const byKey = new Map(this.raw.map((item) => [this.#keyOf(item), item]));
    for (const item of other) {
      const key = this.#keyOf(nativeOf(item));
      if (key === undefined || !byKey.has(key)) return false;
      const same = equalAs(this.convert(byKey.get(key)), item);
      if (same !== true) return same;
    }
    return true;
  }

  /** Items of the other list replace those with the same key, in their place; the rest is appended. */
  override plus(other: Value): Value {
    if (!(other instanceof CelList)) return noSuchOverload(other);
    const items = [...this.raw];
    const places = new Map(items.map((item, i) => [this.#keyOf(item), i]));
    for (const item of other) {
      const native = nativeOf(item);
      const place = places.get(this.#keyOf(native));
      if (place === undefined) items.push(native);
      else items[place] = native;
    }
    return new DataMapList(items, this.convert, this.#keys);
  }
}
