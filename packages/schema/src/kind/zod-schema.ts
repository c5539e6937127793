import { deepCopy, deepEqual, type Schema } from "@konverge/core";
import { z } from "zod";
import { applyDefaults } from "../structural/defaulting.ts";
import { addRule, annotationOf } from "./annotations.ts";
import { DefinitionError } from "./definition-error.ts";
import { presenceRule } from "./immutable.ts";
import { re2PatternOf } from "./re2-pattern.ts";
import { applyChecks } from "./zod-checks.ts";
import { allowNull, enumeration } from "./zod-enums.ts";
import { objectUnion } from "./zod-object-union.ts";
import { checkSchemaOfZod } from "./zod-version.ts";

type Type = z.core.$ZodType;
type Types = z.core.$ZodTypes;

/** A schema, and whether the field it is for may be left out: because it is optional, or because it has a default. */
export interface FieldSchema {
  schema: Schema;
  optional: boolean;
}

/**
 * The structural schema that says the same as a Zod schema. Reads Zod's definition and never its parser: what a CRD
 * cannot say (transformations, code, unions of unlike things) throws a {@link DefinitionError} that names the path.
 */
export function fieldOf(type: Type, path: string): FieldSchema {
  return new Reader().field(type, path);
}

class Reader {
  /** The types being read, from the outermost: meeting one again means that it contains itself. */
  readonly #open = new Set<Type>();

  field(type: Type, path: string): FieldSchema {
    checkSchemaOfZod(type, path);
    const field = this.#read(type, path);
    const { description, title } = z.globalRegistry.get(type) ?? {};
    if (description !== undefined) field.schema.description = description;
    if (title !== undefined) field.schema.title = title;
    // Annotations come last: they speak about the schema as a whole.
    for (const check of applyChecks(type._zod.def, field.schema, path)) annotationOf(check)!(field.schema);
    return field;
  }

  #read(type: Type, path: string): FieldSchema {
    const { def } = type._zod as Types["_zod"];
    if ("coerce" in def && def.coerce) {
      throw new DefinitionError(path, "z.coerce changes the value, which a CRD cannot; use the plain type");
    }
    switch (def.type) {
      case "string":
      case "number":
      case "boolean":
        return present({ type: def.type });
      case "any":
      case "unknown":
        return present({ "x-kubernetes-preserve-unknown-fields": true });
      case "enum":
        return present(enumeration(Object.values(def.entries), path));
      case "literal":
        return present(enumeration(def.values, path));
      case "template_literal":
        return present({ type: "string", pattern: re2PatternOf(type._zod.pattern!, path) });
      case "array":
        return present({ type: "array", items: this.#element(def.element, `${path}[]`) });
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
        allowNull(inner.schema);
        return inner;
      }
      case "default":
      case "prefault": {
        const { schema } = this.field(def.innerType, path);
        // Rules are held against a default as it stands, before the defaults inside of it are filled in.
        schema.default = applyDefaults(schema, defaultOf(def, path));
        return { schema, optional: true };
      }
      default:
        throw new DefinitionError(path, UNSUPPORTED[def.type] ?? `z.${def.type} has no equal in a structural schema`);
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

  /** An item of a list or a value of a record: it exists or not, and is never filled in. */
  #element(type: Type, path: string): Schema {
    const { schema, optional } = this.field(type, path);
    if (optional)
      throw new DefinitionError(path, "items of a list and values of a record cannot be optional or have a default");
    return schema;
  }

  #object(def: z.core.$ZodObjectDef, path: string): Schema {
    const schema = this.#fields(Object.entries(def.shape), path);
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

  #fields(fields: readonly (readonly [string, Type])[], path: string, isPartial = false): Schema {
    const schema: Schema = { type: "object" };
    const properties: Record<string, Schema> = {};
    const required: string[] = [];
    for (const [name, type] of fields) {
      const field = this.field(type, `${path}.${name}`);
      properties[name] = field.schema;
      if (!field.optional && !isPartial) required.push(name);
      else {
        const rule = presenceRule(name, field.schema);
        if (rule) addRule(schema, rule);
      }
    }
    if (fields.length > 0) schema.properties = properties;
    if (required.length > 0) schema.required = required;
    return schema;
  }

  #record(def: z.core.$ZodRecordDef, path: string): Schema {
    const key = def.keyType._zod.def as Types["_zod"]["def"];
    if (key.type === "enum" || key.type === "literal") {
      const names = (key.type === "enum" ? Object.values(key.entries) : key.values).map(String);
      return this.#fields(
        names.map((name) => [name, def.valueType] as const),
        path,
        def.partial,
      );
    }
    if (key.type !== "string") throw new DefinitionError(path, "the keys of a record must be strings");
    if ((key.checks ?? []).length > 0 || "format" in key) {
      throw new DefinitionError(
        path,
        `a CRD cannot constrain keys; use z.string() and a rule: .check(cel("self.all(key, key.matches('…'))"))`,
      );
    }
    return { type: "object", additionalProperties: this.#element(def.valueType, `${path}.*`) };
  }

  #union(def: z.core.$ZodUnionDef, path: string): FieldSchema {
    const isA = (kind: string) => (option: Type) => option._zod.def.type === kind;
    const options = def.options.filter((option) => !isA("null")(option) && !isA("undefined")(option));
    const fields = options.map((option) => this.field(option, path));
    const schema = unite(
      fields.map((field) => field.schema),
      path,
    );
    if (def.options.some(isA("null"))) allowNull(schema);
    return { schema, optional: def.options.some(isA("undefined")) || fields.some((field) => field.optional) };
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
    const both = Object.keys(right).find((keyword) => keyword in left && !MERGED.includes(keyword));
    if (both) throw new DefinitionError(path, `both sides of the intersection have ${both}`);
    const required = [...(left.required ?? []), ...(right.required ?? [])];
    return {
      ...left,
      ...right,
      properties: { ...left.properties, ...right.properties },
      ...(required.length > 0 && { required }),
    };
  }
}

const MERGED = ["type", "properties", "required"];

function present(schema: Schema): FieldSchema {
  return { schema, optional: false };
}

/** The one schema for what any of several schemas allows, where there is one. */
function unite(schemas: Schema[], path: string): Schema {
  const [first, second] = schemas;
  if (!first) throw new DefinitionError(path, "a union of nothing but null and undefined");
  if (!second) return first;
  if (schemas.every((schema) => schema.enum !== undefined)) {
    return enumeration(
      schemas.flatMap((schema) => schema.enum!),
      path,
    );
  }
  const types = [...new Set(schemas.map((schema) => schema.type ?? "unknown"))].sort();
  if (schemas.length === 2 && types.join() === "integer,string") return intOrString(first, second, path);
  if (types.join() === "object") return objectUnion(schemas, path);
  throw new DefinitionError(
    path,
    types.length === 1
      ? `a union of two kinds of ${types[0]}; write one that allows both`
      : `a field has one type in a CRD, not ${types.join(" or ")}; only an integer and a string may share one`,
  );
}

/** Conditions on numbers and on texts do not get in each other's way; an enumeration would. */
function intOrString(first: Schema, second: Schema, path: string): Schema {
  const { type: _, ...united }: Schema = { ...first, ...second, "x-kubernetes-int-or-string": true };
  if (united.enum) throw new DefinitionError(path, "an enumeration cannot share a field with another type");
  if (united.format === "int64" || united.format === "int32") delete united.format;
  return united;
}

function defaultOf(def: z.core.$ZodDefaultDef | z.core.$ZodPrefaultDef, path: string): unknown {
  const value: unknown = def.defaultValue;
  if (!deepEqual(value, def.defaultValue)) {
    throw new DefinitionError(path, "the default is computed on each use; a CRD's default must be a value");
  }
  if (value === null || value === undefined) {
    throw new DefinitionError(path, `a default of ${value} is none to an API server; use .optional()`);
  }
  return deepCopy(value);
}

const UNSUPPORTED: Record<string, string> = {
  bigint: "JSON has no bigint; use z.int() (64 bits on the server)",
  date: "JSON has no Date; use z.iso.datetime()",
  undefined: "a field cannot be undefined; use .optional()",
  void: "a field cannot be undefined; use .optional()",
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
