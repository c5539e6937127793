import { type Schema, WholeFloat } from "@konverge/core";
import { definitionSchema } from "@konverge/kinds";
import { fieldElement } from "./path-element.ts";

/**
 * What server-side apply must know of a type: whether a value is a scalar, a list or a map (untyped values may be any),
 * and whether lists and maps belong to one manager as a whole (atomic) or item by item.
 */
export interface MergeType {
  readonly scalar?: ScalarType;
  readonly list?: ListType;
  readonly map?: MapType;
}

export type ScalarType = "numeric" | "string" | "boolean" | "untyped";

export interface ListType {
  readonly atomic: boolean;
  /** Names of the fields that identify items, sorted; empty for a set. */
  readonly keys: readonly ListKey[];
  /** The same names as the schema has them, for messages. */
  readonly keyNames: readonly string[];
  readonly item: MergeType;
}

export interface ListKey {
  readonly name: string;
  /** What an item that lacks the key is taken to have. */
  readonly default: unknown;
}

/** A map or a struct. */
export interface MapType {
  readonly atomic: boolean;
  field(name: string): FieldType;
  /** Nothing is declared: any field is allowed, and each is owned separately. */
  readonly isFreeForm: boolean;
}

/** What the walkers ask of a field again and again. */
export interface FieldType {
  /** Its path element. */
  readonly element: string;
  /** Undefined for a field that may not be. */
  readonly type: MergeType | undefined;
  /** Whether the schema names it; otherwise it is an entry of a map. */
  readonly declared: boolean;
}

/** Anything, owned as a whole: what lists of untyped values hold. */
export const UNTYPED: MergeType = {
  scalar: "untyped",
  list: {
    atomic: true,
    keys: [],
    keyNames: [],
    get item() {
      return UNTYPED;
    },
  },
  map: {
    atomic: true,
    field: (name) => ({ element: fieldElement(name), type: UNTYPED, declared: false }),
    isFreeForm: false,
  },
};

/** Anything, with maps owned field by field and lists as a whole: what preserve-unknown-fields allows. */
const DEDUCED: MergeType = {
  scalar: "untyped",
  list: UNTYPED.list!,
  map: {
    atomic: false,
    field: (name) => ({ element: fieldElement(name), type: DEDUCED, declared: false }),
    isFreeForm: true,
  },
};

const strictTypes = new WeakMap<Schema, MergeType>();
const preservingTypes = new WeakMap<Schema, MergeType>();

/**
 * The merge type of a schema. `preserve` is inherited: below a node that preserves unknown fields, every object that
 * does not say otherwise allows them.
 */
function mergeTypeOf(schema: Schema, preserve = false): MergeType {
  const preserves = preserve || schema["x-kubernetes-preserve-unknown-fields"] === true;
  const types = preserves ? preservingTypes : strictTypes;
  let type = types.get(schema);
  if (!type) {
    type = build(schema, preserves);
    if (schema["x-kubernetes-embedded-resource"] && type.map) type = { ...type, map: withMetadata(type.map) };
    types.set(schema, type);
  }
  return type;
}

function build(schema: Schema, preserve: boolean): MergeType {
  if (schema.go?.message === "RawExtension") return UNTYPED;
  switch (schema.type) {
    case "object":
      return { map: new SchemaMap(schema, preserve) };
    case "array":
      return { list: new SchemaList(schema, preserve) };
    case "integer":
    case "number":
      return { scalar: "numeric" };
    case "boolean":
      return { scalar: "boolean" };
    case "string":
      return { scalar: schema.format === undefined || schema.format === "byte" ? "string" : "untyped" };
    default:
      return { scalar: "untyped", list: new SchemaList(schema, preserve), map: new SchemaMap(schema, preserve) };
  }
}

/** Types of fields are made when first asked for: schemas are recursive. */
class SchemaMap implements MapType {
  readonly atomic: boolean;
  readonly isFreeForm: boolean;
  readonly #schema: Schema;
  readonly #preserve: boolean;
  readonly #declared = new Map<string, FieldType>();
  #others: MergeType | undefined | null = null;

  constructor(schema: Schema, preserve: boolean) {
    this.#schema = schema;
    this.#preserve = preserve;
    this.atomic = schema["x-kubernetes-map-type"] === "atomic";
    this.isFreeForm =
      !hasProperties(schema) && (schema.additionalProperties === undefined || schema.additionalProperties === true);
  }

  field(name: string): FieldType {
    return this.#declared.get(name) ?? this.#find(name);
  }

  #find(name: string): FieldType {
    const element = fieldElement(name);
    const { properties } = this.#schema;
    const schema = properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!schema) {
      // Names of undeclared fields are users' words: remembering them would never end.
      if (this.#others === null) this.#others = this.#otherType();
      return { element, type: this.#others, declared: false };
    }
    const field = { element, type: mergeTypeOf(schema, this.#preserve), declared: true };
    this.#declared.set(name, field);
    return field;
  }

  /** The type of fields that are not declared. */
  #otherType(): MergeType | undefined {
    const { additionalProperties } = this.#schema;
    if (additionalProperties === undefined) return this.#preserve || !hasProperties(this.#schema) ? DEDUCED : undefined;
    if (typeof additionalProperties === "object") return mergeTypeOf(additionalProperties, this.#preserve);
    return additionalProperties ? DEDUCED : undefined;
  }
}

function hasProperties(schema: Schema): boolean {
  for (const _ in schema.properties) return true;
  return false;
}

class SchemaList implements ListType {
  readonly atomic: boolean;
  readonly keyNames: readonly string[];
  readonly #schema: Schema;
  readonly #preserve: boolean;
  #keys: readonly ListKey[] | undefined;

  constructor(schema: Schema, preserve: boolean) {
    this.#schema = schema;
    this.#preserve = preserve;
    const { atomic, keys } = relationship(schema);
    this.atomic = atomic;
    this.keyNames = keys;
  }

  get keys(): readonly ListKey[] {
    this.#keys ??= [...this.keyNames].sort().map((name) => ({ name, default: keyDefault(this.#schema.items, name) }));
    return this.#keys;
  }

  get item(): MergeType {
    return this.#schema.items ? mergeTypeOf(this.#schema.items, this.#preserve) : UNTYPED;
  }
}

/** Lists of built-in kinds without a list type are what their strategic merge patch makes of them. */
function relationship(schema: Schema): { atomic: boolean; keys: readonly string[] } {
  switch (schema["x-kubernetes-list-type"]) {
    case "set":
      return { atomic: false, keys: [] };
    case "map":
      return { atomic: false, keys: schema["x-kubernetes-list-map-keys"] ?? [] };
    case "atomic":
      return { atomic: true, keys: [] };
  }
  const { strategy, mergeKey } = schema.go?.patch ?? {};
  if (!strategy?.split(",").includes("merge")) return { atomic: true, keys: [] };
  return { atomic: false, keys: mergeKey ? [mergeKey] : [] };
}

/** Go writes a required key even if it is zero, so an item that lacks it has the zero value. */
function keyDefault(items: Schema | undefined, name: string): unknown {
  const field = items?.properties?.[name];
  if (!field || field.default !== undefined) return field?.default;
  if (!field.go || field.go.omitEmpty || field.go.pointer) return undefined;
  if (field.type === "string") return field.format === undefined ? "" : undefined;
  return field.type === "integer" ? 0 : field.type === "boolean" ? false : undefined;
}

/** Which of its forms a type takes for a value; a value it has no form for gets the first it has. */
export function formOf(type: MergeType, value: unknown): "map" | "scalar" | "list" {
  if (typeof value === "object" && value !== null) {
    if (Array.isArray(value)) {
      if (type.list) return "list";
    } else if (value instanceof WholeFloat) {
      if (type.scalar) return "scalar";
    } else if (type.map) return "map";
  } else if (value !== null && value !== undefined && type.scalar) return "scalar";
  return type.map ? "map" : type.scalar ? "scalar" : "list";
}

const TEXT: Schema = { type: "string" };

const objectTypes = new WeakMap<Schema, MergeType>();

/** The merge type of whole objects. A custom resource's schema need not declare what all objects have. */
export function objectTypeOf(schema: Schema): MergeType {
  let type = objectTypes.get(schema);
  if (!type) {
    const own = mergeTypeOf(schema);
    const isWhole = schema.properties?.["metadata"]?.properties?.["ownerReferences"] !== undefined;
    type = isWhole ? own : { ...own, map: withMetadata(own.map!) };
    objectTypes.set(schema, type);
  }
  return type;
}

/** A map type with `apiVersion`, `kind` and `metadata` as every object has them. */
function withMetadata(map: MapType): MapType {
  const all = new SchemaMap(
    { type: "object", properties: { apiVersion: TEXT, kind: TEXT, metadata: definitionSchema("meta.v1.ObjectMeta") } },
    false,
  );
  return {
    atomic: map.atomic,
    field: (name) => (name === "apiVersion" || name === "kind" || name === "metadata" ? all : map).field(name),
    isFreeForm: false,
  };
}
