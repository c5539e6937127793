import { type FieldFact, type KubernetesFacts, kubernetesFacts } from "@konverge/kinds";
import { DecodeError } from "./decode-error.ts";
import {
  convertedToInt32,
  convertedToInt64,
  jsonKind,
  readBool,
  readBytes,
  readDuration,
  readFloat64,
  readInt32,
  readInt64,
  readIntOrString,
  readMicroTime,
  readQuantity,
  readString,
  readTime,
  type ValueReader,
} from "./go-values.ts";
import { type DecoderWords, mismatch, pathText, type Reading } from "./reading.ts";

/** A Go type: how its JSON is read, put into canonical form, and what stands for its zero value. */
export interface Shape {
  /** The type's name in messages: `[]v1.Container`. */
  readonly type: string;
  /** Undefined is Go's nil. */
  read(value: unknown, reading: Reading): unknown;
  /** Puts a value that has been read before, and since changed, into canonical form: the very same value if it is. */
  canonical(value: unknown): unknown;
  /** Takes away what Go would not write after defaults have been filled in, in place. */
  settle(value: unknown): void;
  /** What is written for the zero value of a field that is not left out. */
  zero(): unknown;
  /** Whether omitempty leaves it out. */
  isEmpty(value: unknown): boolean;
}

interface Field {
  readonly name: string;
  readonly shape: Shape;
  readonly pointer: boolean;
  readonly omitEmpty: boolean;
  /** A default waits for the field to be missing, so a zero must not be put in its place. */
  readonly hasDefault: boolean;
  /** Nothing is written where there is no value. */
  readonly skipped: boolean;
}

const same = (value: unknown): unknown => value;
const nothing = (): void => {};

function scalar(type: string, zero: unknown, reader: ValueReader): Shape {
  return {
    type,
    read: (value, reading) => reader(value, reading.mismatch),
    canonical: same,
    settle: nothing,
    zero: () => zero,
    isEmpty: (value) => value === zero,
  };
}

/** A struct that writes its own JSON, `zero` when it is zero; omitempty never leaves a struct out. */
function custom(type: string, zero: unknown, reader: ValueReader): Shape {
  return { ...scalar(type, zero, reader), isEmpty: () => false };
}

/** JSON that is kept as it comes. */
const raw: Shape = {
  type: "interface {}",
  read: same,
  canonical: same,
  settle: nothing,
  zero: () => null,
  isEmpty: () => false,
};

/** A struct that reads nothing from a value that is none of its forms. */
const ignored: Shape = { ...raw, read: () => undefined, canonical: () => null };

/** A struct that reads and writes one of several forms: unknown fields inside it go unnoticed. */
function oneOf(choose: (value: unknown) => Shape | undefined, complaint: string): Shape {
  return {
    ...raw,
    read(value) {
      const shape = choose(value);
      if (!shape) throw new DecodeError(complaint);
      return readAs(shape, value).value;
    },
    canonical: (value) => choose(value)?.canonical(value) ?? value,
  };
}

/** A scalar that is converted where the value is a map's and no JSON text. */
function converted(shape: Shape, convert: (value: unknown) => unknown): Shape {
  return { ...shape, read: (value, reading) => shape.read(reading.words === "map" ? convert(value) : value, reading) };
}

/** A scalar with a custom JSON form, whatever it is part of; `prefix` is put before what is wrong with it. */
function ownJson(shape: Shape, prefix = ""): Shape {
  const read: Shape["read"] = (value) => {
    try {
      return readAs(shape, value).value;
    } catch (error) {
      throw error instanceof DecodeError ? new DecodeError(`${prefix}${error.message}`) : error;
    }
  };
  return {
    ...shape,
    read: (value, reading) => (reading.words === "map" ? read(value, reading) : shape.read(value, reading)),
  };
}

const SCALARS: Record<string, Shape> = {
  string: scalar("string", "", readString),
  bool: scalar("bool", false, readBool),
  int32: converted(scalar("int32", 0, readInt32), convertedToInt32),
  int64: converted(scalar("int64", 0, readInt64), convertedToInt64),
  float64: scalar("float64", 0, readFloat64),
  bytes: ownJson(scalar("[]uint8", "", readBytes), "error decoding from json: "),
};

const CUSTOM: Record<string, Shape> = {
  "resource.Quantity": custom("resource.Quantity", "0", readQuantity),
  "intstr.IntOrString": ownJson(custom("intstr.IntOrString", 0, readIntOrString)),
  "meta.v1.Time": custom("v1.Time", null, readTime),
  "meta.v1.MicroTime": custom("v1.MicroTime", null, readMicroTime),
  "meta.v1.Duration": custom("v1.Duration", "0s", readDuration),
  "meta.v1.FieldsV1": raw,
  "runtime.RawExtension": raw,
  "apiextensions.v1.JSON": raw,
  "apiextensions.v1.JSONSchemaPropsOrBool": oneOf(
    (value) => (typeof value === "boolean" ? SCALARS.bool : isRecord(value) ? jsonSchema() : undefined),
    "boolean or JSON schema expected",
  ),
  "apiextensions.v1.JSONSchemaPropsOrArray": oneOf(
    (value) => (Array.isArray(value) ? listOf(jsonSchema()) : isRecord(value) ? jsonSchema() : ignored),
    "",
  ),
  "apiextensions.v1.JSONSchemaPropsOrStringArray": oneOf(
    (value) => (Array.isArray(value) ? listOf(SCALARS.string!) : isRecord(value) ? jsonSchema() : ignored),
    "",
  ),
};

function jsonSchema(): Shape {
  return shapeOf("apiextensions.v1.JSONSchemaProps");
}

const structs = new WeakMap<KubernetesFacts, Map<string, StructShape>>();

/** The shape of a definition such as `apps.v1.DeploymentSpec` in a version of Kubernetes; by default the default one. */
export function shapeOf(name: string, facts: KubernetesFacts = kubernetesFacts()): Shape {
  const known = CUSTOM[name];
  if (known) return known;
  let shapes = structs.get(facts);
  if (!shapes) {
    shapes = new Map();
    structs.set(facts, shapes);
  }
  let shape = shapes.get(name);
  if (!shape) {
    shape = new StructShape(name, facts);
    shapes.set(name, shape);
  }
  return shape;
}

function typeShape(text: string, file: string, facts: KubernetesFacts): Shape {
  if (text.startsWith("[]")) return listOf(typeShape(text.slice(2), file, facts));
  if (text.startsWith("items[]")) return listOf(typeShape(text.slice(7), file, facts));
  if (text.startsWith("map[]")) return mapOf(typeShape(text.slice(5), file, facts));
  return SCALARS[text] ?? shapeOf(text.includes(".") ? text : `${file}.${text}`, facts);
}

function listOf(element: Shape): Shape {
  return {
    type: `[]${element.type}`,
    read(value, reading) {
      if (value === null || value === undefined) return undefined;
      if (!Array.isArray(value)) return mismatch(reading, jsonKind(value), `[]${element.type}`);
      const { path } = reading;
      const at = path.length;
      const list = new Array<unknown>(value.length);
      for (let i = 0; i < value.length; i++) {
        const item: unknown = value[i];
        path[at] = i;
        list[i] = (item === null ? undefined : element.read(item, reading)) ?? element.zero();
        path.length = at;
      }
      return list;
    },
    canonical(value) {
      if (!Array.isArray(value)) return value;
      let copy: unknown[] | undefined;
      for (let i = 0; i < value.length; i++) {
        const item = element.canonical(value[i]);
        if (item === value[i]) continue;
        copy ??= value.slice();
        copy[i] = item;
      }
      return copy ?? value;
    },
    settle(value) {
      if (Array.isArray(value)) for (const item of value) element.settle(item);
    },
    zero: () => null,
    isEmpty: (value) => value === null || (Array.isArray(value) && value.length === 0),
  };
}

function mapOf(element: Shape): Shape {
  return {
    type: `map[string]${element.type}`,
    read(value, reading) {
      if (value === null || value === undefined) return undefined;
      if (!isRecord(value)) return mismatch(reading, jsonKind(value), `map[string]${element.type}`);
      const { path } = reading;
      const at = path.length;
      const map: Record<string, unknown> = {};
      for (const key of Object.keys(value).sort()) {
        const item = value[key];
        path[at] = key;
        put(map, key, (item === null ? undefined : element.read(item, reading)) ?? element.zero());
        path.length = at;
      }
      return map;
    },
    canonical(value) {
      if (!isRecord(value)) return value;
      let isCanonical = true;
      let previous = "";
      for (const key in value) {
        const item = value[key];
        isCanonical = key >= previous && item !== undefined && element.canonical(item) === item;
        if (!isCanonical) break;
        previous = key;
      }
      if (isCanonical) return value;
      const map: Record<string, unknown> = {};
      for (const key of Object.keys(value).sort()) {
        if (value[key] !== undefined) put(map, key, element.canonical(value[key]));
      }
      return map;
    },
    settle(value) {
      if (isRecord(value)) for (const key in value) element.settle(value[key]);
    },
    zero: () => null,
    isEmpty: (value) => value === null || (isRecord(value) && Object.keys(value).length === 0),
  };
}

/** Definitions contain themselves, so fields are looked up when they are first needed. */
class StructShape implements Shape {
  readonly type: string;
  readonly #name: string;
  readonly #struct: string;
  readonly #facts: KubernetesFacts;
  #fields: Field[] | undefined;
  #index = new Map<string, number>();
  /** How many fields are written even where there is no value. */
  #always = 0;

  constructor(name: string, facts: KubernetesFacts) {
    this.#name = name;
    this.#facts = facts;
    this.#struct = name.slice(name.lastIndexOf(".") + 1);
    this.type = name.split(".").slice(-2).join(".");
  }

  get fields(): Field[] {
    if (this.#fields) return this.#fields;
    const fact = this.#facts.definition(this.#name);
    if (!fact) throw new Error(`there is no definition ${this.#name} in Kubernetes ${this.#facts.version}`);
    const file = this.#name.slice(0, this.#name.lastIndexOf("."));
    this.#fields = Object.entries(fact.fields ?? {}).map(([name, fact]) => fieldOf(name, fact, file, this.#facts));
    for (const [index, { name, skipped }] of this.#fields.entries()) {
      this.#index.set(name, index);
      if (!skipped) this.#always++;
    }
    return this.#fields;
  }

  read(value: unknown, reading: Reading): unknown {
    if (value === null || value === undefined) return undefined;
    if (!isRecord(value)) return mismatch(reading, jsonKind(value), this.type);
    const { fields } = this;
    const found = new Array<unknown>(fields.length);
    const { path, fields: places, struct } = reading;
    const at = path.length;
    const depth = places.length;
    for (const key in value) {
      const index = this.#index.get(key);
      path[at] = key;
      if (index === undefined) reading.unknown.push(pathText(path));
      else {
        const item = value[key];
        places[depth] = key;
        reading.struct = this.#struct;
        // To Go, null is what is not there.
        if (item !== null) {
          const isKnown = at === 0 && typeof item === "object" && reading.known[key] === item;
          found[index] = isKnown ? item : fields[index]!.shape.read(item, reading);
        }
        places.length = depth;
      }
      path.length = at;
    }
    reading.struct = struct;
    const result: Record<string, unknown> = {};
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i]!;
      const item = found[i];
      if (item === undefined && (field.skipped || field.hasDefault)) continue;
      const written = writtenOf(field, item, true);
      if (written !== undefined) result[field.name] = written;
    }
    return result;
  }

  canonical(value: unknown): unknown {
    if (!isRecord(value)) return value ?? this.zero();
    const { fields } = this;
    const found = new Array<unknown>(fields.length);
    // It may be as it should: all that is written is there, nothing else is, and in this order.
    let isCanonical = true;
    let last = -1;
    let missing = this.#always;
    for (const key in value) {
      const index = this.#index.get(key);
      if (index === undefined) {
        isCanonical = false;
        continue;
      }
      const item = value[key];
      const field = fields[index]!;
      const isNil = item === null && field.pointer;
      const written =
        item === undefined ? undefined : writtenOf(field, isNil ? null : field.shape.canonical(item), false);
      found[index] = written;
      if (written === undefined || written !== item || index < last) isCanonical = false;
      last = index;
      if (!field.skipped) missing--;
    }
    if (isCanonical && missing === 0) return value;
    const result: Record<string, unknown> = {};
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i]!;
      const written = found[i] ?? (field.skipped ? undefined : writtenOf(field, undefined, false));
      if (written !== undefined) result[field.name] = written;
    }
    return result;
  }

  settle(value: unknown): void {
    if (!isRecord(value)) return;
    const { fields } = this;
    for (const name in value) {
      const index = this.#index.get(name);
      const item = value[name];
      if (index === undefined || item === undefined) continue;
      const { shape, pointer, omitEmpty } = fields[index]!;
      if (omitEmpty && !pointer && shape.isEmpty(item)) delete value[name];
      else shape.settle(item);
    }
  }

  zero(): unknown {
    const result: Record<string, unknown> = {};
    for (const field of this.fields) {
      const written = field.skipped ? undefined : writtenOf(field, undefined, false);
      if (written !== undefined) result[field.name] = written;
    }
    return result;
  }

  /** Go's omitempty never leaves a struct out. */
  isEmpty(): boolean {
    return false;
  }
}

/**
 * What Go would write for a field's value, undefined for nothing; while an object is being read, what a default will fill
 * in is left out.
 */
function writtenOf(field: Field, value: unknown, reading: boolean): unknown {
  const { shape, pointer, omitEmpty, hasDefault } = field;
  if (value === undefined || value === null) {
    if (field.skipped || (reading && hasDefault)) return undefined;
    return pointer ? null : shape.zero();
  }
  if (pointer || !shape.isEmpty(value)) return value;
  if (omitEmpty || (reading && hasDefault)) return undefined;
  // Storage does not distinguish an empty list from none, but who owns it is recorded before.
  return reading ? value : shape.zero();
}

/** Sets a key of a map, whatever it is called. */
function put(map: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") map[key] = value;
  else Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
}

function fieldOf(name: string, [type, , flags, extras = {}]: FieldFact, file: string, facts: KubernetesFacts): Field {
  const shape = typeShape(type, file, facts);
  const pointer = flags.includes("p");
  const omitEmpty = flags.includes("o");
  const zeroIsEmpty = pointer || (!(shape instanceof StructShape) && shape.isEmpty(shape.zero()));
  return {
    name,
    shape,
    pointer,
    omitEmpty,
    hasDefault: extras.serverDefault !== undefined,
    skipped: flags.includes("z") || (omitEmpty && zeroIsEmpty),
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads a JSON value as a definition; throws what Go's decoder would say. */
export function readAs(
  shape: Shape,
  value: unknown,
  words: DecoderWords = "json",
  known: Readonly<Record<string, unknown>> = {},
): { value: unknown; unknown: string[] } {
  const reading: Reading = {
    path: [],
    fields: [],
    struct: "",
    unknown: [],
    error: undefined,
    words,
    mismatch: (what, type) => mismatch(reading, what, type),
    known,
  };
  const read = shape.read(value, reading);
  if (reading.error !== undefined) throw new DecodeError(reading.error);
  return { value: read ?? shape.zero(), unknown: reading.unknown };
}
