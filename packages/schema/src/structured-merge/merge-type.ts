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
  /** Names of the fields that tell items apart, sorted; empty for a set. */
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
  /** The type of a declared field. */
  declared(name: string): MergeType | undefined;
  /** The type of fields that are not declared; undefined when there may be none. */
  readonly element: MergeType | undefined;
  /** Nothing declared, anything goes, each field on its own. */
  readonly isFreeForm: boolean;
}

/** A field, with all that the walkers ask of it again and again. */
export interface FieldType {
  readonly element: string;
  readonly type: MergeType | undefined;
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
    declared: () => undefined,
    get element() {
      return UNTYPED;
    },
    isFreeForm: false,
  },
};

/** Anything, with maps owned field by field and lists as a whole: what preserve-unknown-fields allows. */
export const DEDUCED: MergeType = {
  scalar: "untyped",
  list: UNTYPED.list!,
  map: {
    atomic: false,
    declared: () => undefined,
    get element() {
      return DEDUCED;
    },
    isFreeForm: true,
  },
};

const strictTypes = new WeakMap<Schema, MergeType>();
const preservingTypes = new WeakMap<Schema, MergeType>();

/**
 * The merge type of a schema. `preserve` is inherited: below a node that preserves unknown fields, every object that
 * does not say otherwise allows them.
 */
export function mergeTypeOf(schema: Schema, preserve = false): MergeType {
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
  readonly #declared = new Map<string, MergeType | undefined>();
  #element: MergeType | undefined | null = null;

  constructor(schema: Schema, preserve: boolean) {
    this.#schema = schema;
    this.#preserve = preserve;
    this.atomic = schema["x-kubernetes-map-type"] === "atomic";
    this.isFreeForm =
      !hasProperties(schema) && (schema.additionalProperties === undefined || schema.additionalProperties === true);
  }

  declared(name: string): MergeType | undefined {
    const known = this.#declared.get(name);
    if (known !== undefined || this.#declared.has(name)) return known;
    const { properties } = this.#schema;
    const schema = properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
    const type = schema && mergeTypeOf(schema, this.#preserve);
    // Names of undeclared fields are users' words: remembering them would never end.
    if (type) this.#declared.set(name, type);
    return type;
  }

  get element(): MergeType | undefined {
    if (this.#element === null) this.#element = this.#elementType();
    return this.#element;
  }

  #elementType(): MergeType | undefined {
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

/** The type of a field and the element that names it. */
export function fieldOf(map: MapType, name: string): FieldType {
  const type = map.declared(name);
  return { element: fieldElement(name), type: type ?? map.element, declared: type !== undefined };
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
  const fields: Readonly<Record<string, MergeType>> = {
    apiVersion: mergeTypeOf(TEXT),
    kind: mergeTypeOf(TEXT),
    metadata: mergeTypeOf(definitionSchema("meta.v1.ObjectMeta")),
  };
  return {
    atomic: map.atomic,
    declared: (name) => (Object.hasOwn(fields, name) ? fields[name] : map.declared(name)),
    get element() {
      return map.element;
    },
    isFreeForm: false,
  };
}
