import { deepEqual, type Schema } from "@konverge/core";
import { DefinitionError } from "./definition-error.ts";

/** The keywords that only set conditions, and so may differ between alternatives. */
const CONDITIONS = [
  "enum",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "pattern",
] as const;

/**
 * One object schema for a union of objects: the fields of all of them, and an `anyOf` that says which must be there
 * together. A field that several alternatives declare must have the same type in each; the conditions on a scalar may
 * differ, as a discriminator's do. An alternative's own fields are refused where another alternative is chosen.
 */
export function objectUnion(schemas: readonly Schema[], path: string): Schema {
  const properties: Record<string, Schema> = {};
  /** The fields whose conditions the alternatives have to repeat. */
  const different = new Set<string>();
  for (const schema of schemas) {
    if (!schema.properties || schema["x-kubernetes-preserve-unknown-fields"]) {
      throw new DefinitionError(path, "every alternative must be an object with named fields");
    }
    for (const [name, property] of Object.entries(schema.properties)) {
      const declared = properties[name];
      if (declared === undefined) properties[name] = property;
      else if (!deepEqual(declared, property)) {
        properties[name] = shared(declared, property, `${path}.${name}`);
        different.add(name);
      }
    }
  }
  const names = Object.keys(properties);
  const required = names.filter((name) => schemas.every((schema) => schema.required?.includes(name)));
  return {
    type: "object",
    properties,
    ...(required.length > 0 && { required }),
    anyOf: schemas.map((schema) => alternative(schema, names, different)),
  };
}

function alternative(schema: Schema, names: readonly string[], different: ReadonlySet<string>): Schema {
  const foreign = names.filter((name) => !Object.hasOwn(schema.properties!, name));
  const own = [...different].filter((name) => Object.hasOwn(schema.properties!, name));
  const absent = foreign.map((name) => ({ required: [name] }));
  return {
    ...(own.length > 0 && {
      properties: Object.fromEntries(own.map((name) => [name, conditionsOf(schema.properties![name]!)])),
    }),
    ...(schema.required && { required: schema.required }),
    ...(absent.length === 1 && { not: absent[0] }),
    ...(absent.length > 1 && { not: { anyOf: absent } }),
  };
}

/** What two alternatives say of a field in common; enumerations are united. */
function shared(one: Schema, other: Schema, path: string): Schema {
  const [left, right] = [withoutConditions(one), withoutConditions(other)];
  if (left.type === "object" || left.type === "array" || !deepEqual(left, right)) {
    throw new DefinitionError(path, "the alternatives declare it differently; a field has one type in a CRD");
  }
  return one.enum && other.enum ? { ...left, enum: [...new Set([...one.enum, ...other.enum])] } : left;
}

function conditionsOf(schema: Schema): Schema {
  return Object.fromEntries(CONDITIONS.flatMap((keyword) => (keyword in schema ? [[keyword, schema[keyword]]] : [])));
}

function withoutConditions(schema: Schema): Schema {
  return Object.fromEntries(
    Object.entries(schema).filter(([keyword]) => !(CONDITIONS as readonly string[]).includes(keyword)),
  );
}
