/**
 * Data as the values and types that its schema makes of it, for expressions about whole objects of any kind.
 *
 * Unlike the rules of a CRD, which see only what a schema describes, these see everything: what the schema leaves open is
 * dynamic, and is read as JSON. Schemas are followed as far as an expression goes, because those of built-in kinds are recursive.
 */
import { isObject, type Schema } from "@konverge/core";
import { readString } from "../rules/string-formats.ts";
import type { StructDeclaration } from "../types/declarations.ts";
import { unescapeName } from "../types/escape.ts";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listType,
  mapType,
  STRING,
  structType,
  TIMESTAMP,
  type Type,
} from "../types/types.ts";
import { PlainList, PlainMap } from "../values/collections.ts";
import { fromJson, type View } from "../values/json-value.ts";
import type { Value } from "../values/values.ts";

const FORMATS: Readonly<Record<string, Type>> = {
  byte: BYTES,
  duration: DURATION,
  date: TIMESTAMP,
  "date-time": TIMESTAMP,
};

/** The schema of a field of an object, or of an entry of a map. Undefined: the schema leaves it open. */
function fieldOf(schema: Schema, name: string): Schema | undefined {
  const { properties, additionalProperties } = schema;
  if (properties && Object.hasOwn(properties, name)) return properties[name];
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}

/** Whether its fields are all that there can be. */
export function isClosed(schema: Schema): boolean {
  if (schema["x-kubernetes-preserve-unknown-fields"] || schema["x-kubernetes-embedded-resource"]) return false;
  return Object.keys(schema.properties ?? {}).length > 0;
}

/** The types of data by name: an object's type is called by the path on which it is reached. */
export class OpenTypes {
  readonly #schemas = new Map<string, Schema>();

  /** The type of data of a schema; its fields can be looked up from then on. */
  typeOf(schema: Schema, path: string): Type {
    if (schema["x-kubernetes-int-or-string"]) return DYN;
    switch (schema.type) {
      case "string":
        return FORMATS[schema.format ?? ""] ?? STRING;
      case "integer":
        return INT;
      case "number":
        return DOUBLE;
      case "boolean":
        return BOOL;
      case "array":
        return listType(schema.items ? this.typeOf(schema.items, `${path}[]`) : DYN);
      case "object":
        return this.#objectType(schema, path);
      default:
        return DYN;
    }
  }

  #objectType(schema: Schema, path: string): Type {
    if (typeof schema.additionalProperties === "object")
      return mapType(STRING, this.typeOf(schema.additionalProperties, `${path}{}`));
    if (!isClosed(schema)) return schema.properties ? DYN : mapType(STRING, DYN);
    this.#schemas.set(path, schema);
    return structType(path);
  }

  struct(path: string): StructDeclaration | undefined {
    const schema = this.#schemas.get(path);
    if (!schema) return undefined;
    return {
      type: structType(path),
      field: (escaped) => {
        const name = schema.properties && escaped in schema.properties ? escaped : (unescapeName(escaped) ?? escaped);
        const field = fieldOf(schema, name);
        return field && this.typeOf(field, `${path}.${name}`);
      },
    };
  }

  /** The schema of the objects of a type. */
  schemaOf(type: Type): Schema | undefined {
    return this.#schemas.get(type.name);
  }
}

/** A value of data. Objects and lists are viewed, not copied. */
export function openValue(schema: Schema | undefined, raw: unknown): Value {
  if (raw === null || raw === undefined) return null;
  if (!schema || schema["x-kubernetes-int-or-string"]) return fromJson(raw);
  if (typeof raw === "string") return FORMATS[schema.format ?? ""] ? readString(schema.format)(raw) : raw;
  if (typeof raw === "number" && schema.type === "number") return raw;
  if (Array.isArray(raw)) return new OpenList(raw, schema.items);
  return isObject(raw) ? new OpenMap(raw, schema) : fromJson(raw);
}

class OpenList extends PlainList implements View {
  override get goType(): string {
    return "[]interface {}";
  }
  readonly raw: readonly unknown[];
  readonly #items: Schema | undefined;
  constructor(raw: readonly unknown[], items: Schema | undefined) {
    super();
    this.raw = raw;
    this.#items = items;
  }
  get size(): number {
    return this.raw.length;
  }
  at(index: number): Value {
    return openValue(this.#items, this.raw[index]);
  }
}

class OpenMap extends PlainMap implements View {
  override get goType(): string {
    return "map[string]interface {}";
  }
  readonly raw: Readonly<Record<string, unknown>>;
  readonly #schema: Schema;
  constructor(raw: Readonly<Record<string, unknown>>, schema: Schema) {
    super();
    this.raw = raw;
    this.#schema = schema;
  }
  get size(): number {
    return this.keys().length;
  }
  find(key: Value): Value | undefined {
    if (typeof key !== "string") return undefined;
    const name = Object.hasOwn(this.raw, key) ? key : unescapeName(key);
    if (name === undefined || !Object.hasOwn(this.raw, name)) return undefined;
    const value = this.raw[name];
    if (value === undefined || (value === null && isClosed(this.#schema))) return undefined;
    return openValue(fieldOf(this.#schema, name), value);
  }
  keys(): string[] {
    return Object.keys(this.raw).filter((key) => this.raw[key] !== undefined);
  }
}
