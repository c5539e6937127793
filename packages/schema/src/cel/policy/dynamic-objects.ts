/** The types that mutating policies build their changes of: `Object{…}`, `Object.spec{…}` and `JSONPatch{…}`. */
import type { Selectable } from "../evaluation/attributes.ts";
import type { StructDeclaration } from "../types/declarations.ts";
import { DYN, STRING, structType, type Type } from "../types/types.ts";
import { equal } from "../values/equality.ts";
import { CelError, goTypeName, Opaque, type Value } from "../values/values.ts";

/** A part of an object, of the fields that an expression gave it. Fields are not known in advance, nor are their types. */
export class DynamicObject extends Opaque {
  readonly typeName: string;
  override readonly fields: ReadonlyMap<string, Value>;

  constructor(typeName: string, fields: ReadonlyMap<string, Value>) {
    super();
    this.typeName = typeName;
    this.fields = fields;
  }

  equal(other: Value): Value {
    if (!(other instanceof DynamicObject)) return false;
    if (other.typeName !== this.typeName || other.fields.size !== this.fields.size) return false;
    for (const [name, value] of this.fields) {
      const theirs = other.fields.get(name);
      if (theirs === undefined || equal(value, theirs) !== true) return false;
    }
    return true;
  }
}

/** One operation of a JSON patch. */
export class JsonPatchOperation extends Opaque implements Selectable {
  readonly typeName = "JSONPatch";
  readonly op: string;
  readonly path: string;
  readonly from: string;
  readonly value: Value | undefined;

  constructor(texts: { op?: string; path?: string; from?: string }, value: Value | undefined) {
    super();
    this.op = texts.op ?? "";
    this.path = texts.path ?? "";
    this.from = texts.from ?? "";
    this.value = value;
  }

  select(field: string): Value | undefined {
    if (field === "value") return this.value;
    return isText(field) ? this[field] : new CelError(`unsupported indexer: ${field}`);
  }

  equal(other: Value): Value {
    if (!(other instanceof JsonPatchOperation)) return false;
    if (TEXTS.some((field) => this[field] !== other[field])) return false;
    if (this.value === undefined || other.value === undefined) return this.value === other.value;
    return equal(this.value, other.value);
  }
}

const TEXTS = ["op", "path", "from"] as const;
const isText = (field: string): field is (typeof TEXTS)[number] => (TEXTS as readonly string[]).includes(field);

function buildOperation(fields: ReadonlyMap<string, Value>): Value {
  const texts: Partial<Record<(typeof TEXTS)[number], string>> = {};
  for (const field of TEXTS) {
    const text = fields.get(field);
    if (text === undefined) continue;
    if (typeof text !== "string")
      return new CelError(`unexpected type ${goTypeName(text)} for JSONPatchType '${field}' field`);
    texts[field] = text;
  }
  return new JsonPatchOperation(texts, fields.get("value"));
}

/** The type of a whole object. */
export const OBJECT = structType("Object");
/** The type of an operation. */
export const JSON_PATCH = structType("JSONPatch");

const JSON_PATCH_FIELDS: Record<string, Type> = { op: STRING, path: STRING, from: STRING, value: DYN };

/** API servers do not say that JSONPatch lacks a field: it has them all, but nothing is of their type. */
const NAMELESS = structType("");

/** A type of mutating policies by name. */
export function dynamicStruct(name: string): StructDeclaration | undefined {
  if (name === "JSONPatch") {
    const field = (of: string) => (Object.hasOwn(JSON_PATCH_FIELDS, of) ? JSON_PATCH_FIELDS[of] : NAMELESS);
    return { type: JSON_PATCH, field, build: buildOperation };
  }
  if (name !== "Object" && !name.startsWith("Object.")) return undefined;
  return { type: structType(name), field: () => DYN, build: (fields) => new DynamicObject(name, fields) };
}
