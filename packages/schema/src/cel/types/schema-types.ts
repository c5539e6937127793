/**
 * The types of expressions about data that a schema describes, and how large that data can become: the estimate of a
 * rule's cost rests on it.
 */
import type { Schema } from "@konverge/core";
import type { StructDeclaration } from "./declarations.ts";
import { escapeName, RESERVED_WORDS } from "./escape.ts";
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
} from "./types.ts";

/** The largest request an API server takes: nothing in an object can be longer. */
export const MOST_BYTES = 3 * 1024 * 1024;
const LONGEST_STRING = MOST_BYTES - 2;

/** What expressions may know about the data at a node of a schema. */
export interface DataType {
  /** The type of scalars; objects, lists and maps are named by where they stand, see {@link DataTypes}. */
  readonly scalar?: Type;
  /** Fields of an object by their names in expressions. */
  readonly fields?: ReadonlyMap<string, DataType>;
  /** Of lists and maps. */
  readonly element?: DataType;
  readonly isMap?: boolean;
  /** The most bytes of a string, items of a list or entries of a map; 0 for what has no size. */
  readonly most: number;
  /** The fewest bytes this takes as JSON. */
  readonly fewestBytes: number;
}

const scalar = (type: Type, fewestBytes: number, most = 0): DataType => ({ scalar: type, most, fewestBytes });
const atLeastZero = (n: number) => Math.max(0, n);
const TEXT = scalar(STRING, 2, LONGEST_STRING);

/** The type of the data, or undefined where a schema says too little for expressions to see it. */
export function dataTypeOf(schema: Schema, isResource: boolean): DataType | undefined {
  if (schema["x-kubernetes-int-or-string"]) {
    return scalar(DYN, 1, schema.maxLength === undefined ? LONGEST_STRING : atLeastZero(schema.maxLength) * 4);
  }
  switch (schema.type) {
    case "array":
      return arrayType(schema);
    case "object":
      return typeof schema.additionalProperties === "object"
        ? valuesType(schema, schema.additionalProperties)
        : objectType(schema, isResource);
    case "string":
      return stringType(schema);
    case "boolean":
      return scalar(BOOL, 4);
    case "number":
      return scalar(DOUBLE, 1);
    case "integer":
      return scalar(INT, 1);
    default:
      return undefined;
  }
}

const partType = (schema: Schema) => dataTypeOf(schema, schema["x-kubernetes-embedded-resource"] === true);

function arrayType(schema: Schema): DataType | undefined {
  const element = schema.items && partType(schema.items);
  if (!element) return undefined;
  const fitting = Math.trunc((MOST_BYTES - 2) / (element.fewestBytes + 1));
  return { element, most: schema.maxItems === undefined ? fitting : atLeastZero(schema.maxItems), fewestBytes: 2 };
}

function valuesType(schema: Schema, values: Schema): DataType | undefined {
  const element = partType(values);
  if (!element) return undefined;
  const fitting = Math.trunc((MOST_BYTES - 2) / (element.fewestBytes + 6));
  const most = schema.maxProperties === undefined ? fitting : atLeastZero(schema.maxProperties);
  return { element, isMap: true, most, fewestBytes: 2 };
}

/** The fields that every resource has, whether its schema speaks of them or not. */
const METADATA: DataType = {
  fields: new Map([
    ["name", TEXT],
    ["generateName", TEXT],
  ]),
  most: 0,
  fewestBytes: 2,
};

/** Whether a resource's schema describes its kind and name itself. */
export function describesMetadata({ properties }: Schema): boolean {
  const metadata = properties?.["metadata"];
  return (
    properties?.["kind"]?.type === "string" &&
    properties["apiVersion"]?.type === "string" &&
    metadata?.type === "object" &&
    metadata.properties?.["name"]?.type === "string" &&
    metadata.properties["generateName"]?.type === "string"
  );
}

function objectType(schema: Schema, isResource: boolean): DataType {
  const fields = new Map<string, DataType>();
  const isImplied = isResource && !describesMetadata(schema);
  const required = new Set(schema.required);
  let fewestBytes = 2;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isMeta = isImplied && (name === "kind" || name === "apiVersion" || name === "metadata");
    const type = isMeta ? (name === "metadata" ? METADATA : TEXT) : partType(property);
    if (!type) continue;
    const identifier = escapeName(name);
    if (identifier !== undefined) fields.set(identifier, type);
    // Defaults are filled in by the server, so a field with one need not be in the request.
    const isInRequest = required.has(name) && (isMeta || property.default === undefined);
    if (isInRequest) fewestBytes += new TextEncoder().encode(name).length + type.fewestBytes + 4;
  }
  if (isImplied) {
    for (const [name, type] of [
      ["kind", TEXT],
      ["apiVersion", TEXT],
      ["metadata", METADATA],
    ] as const) {
      if (fields.has(name)) continue;
      fields.set(name, type);
      if (required.has(name)) fewestBytes += name.length + type.fewestBytes + 4;
    }
  }
  return { fields, most: 0, fewestBytes };
}

function stringType(schema: Schema): DataType {
  const { format, maxLength } = schema;
  switch (format) {
    case "byte":
      return scalar(BYTES, 2, maxLength === undefined ? LONGEST_STRING : atLeastZero(maxLength));
    case "duration":
      return scalar(DURATION, 3, 32);
    case "date":
      return scalar(TIMESTAMP, 12, 12);
    case "date-time":
      return scalar(TIMESTAMP, 21, 32);
  }
  // A character can take four bytes.
  if (maxLength !== undefined) return scalar(STRING, 2, atLeastZero(maxLength) * 4);
  const { enum: values } = schema;
  if (!values || values.length === 0) return TEXT;
  const lengths = values.map((value) => (typeof value === "string" ? new TextEncoder().encode(value).length : 0));
  return scalar(STRING, 2, Math.max(0, ...lengths));
}

/** Types of data by name: an object's type is called by the path on which it is reached from its root. */
export class DataTypes {
  readonly #known = new Map<string, DataType>();

  /** The type of data at a path; the objects in it can be looked up from then on. */
  typeOf(data: DataType, path: string): Type {
    if (data.scalar) return data.scalar;
    if (data.fields) {
      this.#known.set(path, data);
      return structType(path);
    }
    if (data.isMap) return mapType(STRING, this.typeOf(data.element!, `${path}.@elem`));
    return listType(this.typeOf(data.element!, `${path}.@idx`));
  }

  struct(path: string): StructDeclaration | undefined {
    const data = this.#known.get(path);
    if (!data) return undefined;
    return {
      type: structType(path),
      field: (name) => {
        const identifier = data.fields!.has(name) || !RESERVED_WORDS.has(name) ? name : `__${name}__`;
        const field = data.fields!.get(identifier);
        return field && this.typeOf(field, `${path}.${identifier}`);
      },
    };
  }
}
