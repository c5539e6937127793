import type { Schema } from "@konverge/core";
import { z } from "zod";
import { annotationOf } from "./annotations.ts";
import { DefinitionError } from "./definition-error.ts";
import { objectUnion } from "./zod-object-union.ts";
import { scalarChecks } from "./zod-scalars.ts";

type Type = z.core.$ZodType;
type Types = z.core.$ZodTypes;

/** A schema, and whether the field it is for may be left out. */
export interface FieldSchema {
  schema: Schema;
  optional: boolean;
}

/**
 * The structural schema that says the same as a Zod schema. Reads Zod's definition and never its parser: what a CRD
 * cannot say (transformations, code, unions of unlike things) throws a {@link DefinitionError} that names the path.
 */
export function schemaOf(type: Type, path: string): Schema {
  return new Reader().field(type, path).schema;
}

class Reader {
  /** The object types being read, from the outermost: meeting one again means the type contains itself. */
  readonly #open = new Set<Type>();

  field(type: Type, path: string): FieldSchema {
    const { def } = type._zod as Types["_zod"];
    const field = this.#read(type, path);
    const description = z.globalRegistry.get(type)?.description;
    if (description !== undefined) field.schema.description = description;
    const title = z.globalRegistry.get(type)?.title;
    if (title !== undefined) field.schema.title = title;
    for (const check of scalarChecks(def, field.schema, path)) annotationOf(check)!(field.schema);
    return field;
  }

  #read(type: Type, path: string): FieldSchema {
    const { def } = type._zod as Types["_zod"];
    const present = (schema: Schema): FieldSchema => ({ schema, optional: false });
    const unsupported = (why: string) => new DefinitionError(path, why);
    if ("coerce" in def && def.coerce)
      throw unsupported(`z.coerce changes the value, which a CRD cannot; use the plain type`);
    switch (def.type) {
      case "string":
        return present({ type: "string" });
      case "number":
        return present({ type: "number" });
      case "boolean":
        return present({ type: "boolean" });
      case "any":
      case "unknown":
        return present({ "x-kubernetes-preserve-unknown-fields": true });
      case "enum":
        return present(enumOf(Object.values(def.entries), path));
      case "literal":
        return present(enumOf(def.values, path));
      case "template_literal":
        return present({ type: "string", pattern: type._zod.pattern!.source });
      case "array":
        return present({ type: "array", items: this.field(def.element, `${path}[]`).schema });
      case "object":
        return present(this.#nested(type, path, () => this.#object(def, path)));
      case "record":
        return present(this.#record(def, path));
      case "union":
        return this.#union(def, path);
      case "intersection":
        return present(this.#intersection(def, path));
      case "lazy":
        return this.#nested(type, path, () => this.field(def.getter(), path));
      case "optional":
        return { schema: this.field(def.innerType, path).schema, optional: true };
      case "nonoptional":
        return present(this.field(def.innerType, path).schema);
      case "readonly":
        return this.field(def.innerType, path);
      case "nullable": {
        const inner = this.field(def.innerType, path);
        inner.schema.nullable = true;
        return inner;
      }
      case "default":
      case "prefault": {
        const { schema } = this.field(def.innerType, path);
        schema.default = def.defaultValue;
        return { schema, optional: true };
      }
      default:
        throw unsupported(UNSUPPORTED[def.type] ?? `z.${def.type} has no equal in a structural schema`);
    }
  }

  #nested<R>(type: Type, path: string, read: () => R): R {
    if (this.#open.has(type)) {
      throw new DefinitionError(
        path,
        "the type contains itself; a CRD's schema is finite: unroll it or use z.unknown()",
      );
    }
    this.#open.add(type);
    const result = read();
    this.#open.delete(type);
    return result;
  }

  #object(def: z.core.$ZodObjectDef, path: string): Schema {
    const schema: Schema = { type: "object" };
    const properties: Record<string, Schema> = {};
    const required: string[] = [];
    for (const [name, type] of Object.entries(def.shape)) {
      const field = this.field(type, `${path}.${name}`);
      properties[name] = field.schema;
      if (!field.optional) required.push(name);
    }
    if (Object.keys(properties).length > 0) schema.properties = properties;
    if (required.length > 0) schema.required = required;
    const catchall = def.catchall?._zod.def.type;
    if (catchall === "unknown" || catchall === "any") schema["x-kubernetes-preserve-unknown-fields"] = true;
    else if (catchall === "never") {
      throw new DefinitionError(
        path,
        "a CRD cannot reject unknown fields (they are pruned, and reported under strict field validation); use z.object",
      );
    } else if (catchall !== undefined) {
      throw new DefinitionError(
        path,
        "a CRD cannot have both named fields and a catch-all; use z.record or z.looseObject",
      );
    }
    return schema;
  }

  #record(def: z.core.$ZodRecordDef, path: string): Schema {
    const key = def.keyType._zod.def as Types["_zod"]["def"];
    if (key.type === "enum" || key.type === "literal") {
      const names = key.type === "enum" ? Object.values(key.entries) : key.values;
      const partial = "partial" in def && def.partial === true;
      const properties: Record<string, Schema> = {};
      const required: string[] = [];
      for (const name of names.map(String)) {
        const field = this.field(def.valueType, `${path}.${name}`);
        properties[name] = field.schema;
        if (!partial && !field.optional) required.push(name);
      }
      return { type: "object", properties, ...(required.length > 0 && { required }) };
    }
    if (key.type !== "string") throw new DefinitionError(path, "the keys of a record must be strings");
    if ((key.checks ?? []).length > 0 || "format" in key) {
      throw new DefinitionError(
        path,
        `a CRD cannot constrain keys; use z.string() and a rule: .check(cel("self.all(key, key.matches('…'))"))`,
      );
    }
    return { type: "object", additionalProperties: this.field(def.valueType, `${path}.*`).schema };
  }

  #union(def: z.core.$ZodUnionDef, path: string): FieldSchema {
    const isNull = (option: Type) => option._zod.def.type === "null";
    const isUndefined = (option: Type) => option._zod.def.type === "undefined";
    const options = def.options.filter((option) => !isNull(option) && !isUndefined(option));
    const fields = options.map((option) => this.field(option, path));
    const schema = unite(
      def,
      fields.map((field) => field.schema),
      path,
    );
    if (def.options.some(isNull) || fields.some((field) => field.schema.nullable)) schema.nullable = true;
    return { schema, optional: def.options.some(isUndefined) || fields.some((field) => field.optional) };
  }

  #intersection(def: z.core.$ZodIntersectionDef, path: string): Schema {
    const left = this.field(def.left, path).schema;
    const right = this.field(def.right, path).schema;
    if (left.type !== "object" || right.type !== "object" || !left.properties || !right.properties) {
      throw new DefinitionError(path, "only objects with named fields can be intersected");
    }
    for (const name of Object.keys(right.properties)) {
      if (name in left.properties)
        throw new DefinitionError(`${path}.${name}`, "both sides of the intersection declare it");
    }
    return {
      ...left,
      ...right,
      properties: { ...left.properties, ...right.properties },
      required: [...(left.required ?? []), ...(right.required ?? [])],
    };
  }
}

/** The one schema for what any of several schemas allows, where there is one. */
function unite(def: z.core.$ZodUnionDef, schemas: Schema[], path: string): Schema {
  const [first] = schemas;
  if (!first) throw new DefinitionError(path, "a union of nothing but null and undefined");
  if (schemas.length === 1) return first;
  if (schemas.every((schema) => schema.enum !== undefined)) {
    return enumOf(
      schemas.flatMap((schema) => schema.enum!),
      path,
    );
  }
  const types = schemas.map((schema) => schema.type).sort();
  if (types.length === 2 && types[0] === "integer" && types[1] === "string") {
    return { ...first, ...schemas[1], type: undefined, "x-kubernetes-int-or-string": true };
  }
  if (types.every((type) => type === "object")) {
    return objectUnion(schemas, "discriminator" in def ? String(def.discriminator) : undefined, path);
  }
  throw new DefinitionError(
    path,
    `a field has one type in a CRD, not ${[...new Set(types)].join(" or ")}; only an integer or a string may share one`,
  );
}

function enumOf(values: readonly unknown[], path: string): Schema {
  const distinct = [...new Set(values)];
  const nullable = distinct.includes(null);
  const others = distinct.filter((value) => value !== null);
  const kinds = new Set(
    others.map((value) => (typeof value === "number" && Number.isInteger(value) ? "integer" : typeof value)),
  );
  const [kind] = kinds;
  if (kinds.size !== 1 || (kind !== "string" && kind !== "integer" && kind !== "number" && kind !== "boolean")) {
    throw new DefinitionError(
      path,
      `the values of an enumeration must be of one JSON type, not ${[...kinds].join(" and ")}`,
    );
  }
  return { type: kind, enum: nullable ? [...others, null] : others, ...(nullable && { nullable }) };
}

const UNSUPPORTED: Record<string, string> = {
  bigint: "JSON has no bigint; use z.int() (64 bits on the server)",
  date: "JSON has no Date; use z.iso.datetime()",
  undefined: "a field cannot be undefined; use .optional()",
  null: "a field cannot be only null; use .nullable()",
  never: "nothing can be stored in z.never()",
  tuple: "a list has one item type in a CRD; use z.array or an object",
  set: "JSON has no Set; use z.array(…).check(listSet())",
  map: "JSON has no Map; use z.record",
  transform: "a CRD cannot transform a value; do it in the controller",
  pipe: "a CRD cannot transform a value; do it in the controller",
  catch: "a CRD cannot replace an invalid value; use .default()",
  custom: "a CRD cannot run code; say it in CEL: .check(cel(…))",
};
