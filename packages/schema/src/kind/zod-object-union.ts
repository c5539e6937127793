import { isDeepStrictEqual } from "node:util";
import type { Schema } from "@konverge/core";
import { DefinitionError } from "./definition-error.ts";

/**
 * One object schema for a union of objects: the fields of all of them, and a `oneOf` that says which must be there
 * together. A field that several alternatives declare must look the same in each, but for the values of a
 * discriminator. An alternative's own fields are refused when another alternative is chosen.
 */
export function objectUnion(schemas: readonly Schema[], discriminator: string | undefined, path: string): Schema {
  const properties: Record<string, Schema> = {};
  const values: unknown[] = [];
  for (const schema of schemas) {
    if (!schema.properties || schema["x-kubernetes-preserve-unknown-fields"]) {
      throw new DefinitionError(path, "every alternative must be an object with named fields");
    }
    for (const [name, property] of Object.entries(schema.properties)) {
      if (name === discriminator) values.push(...(property.enum ?? []));
      else if (name in properties && !isDeepStrictEqual(properties[name], property)) {
        throw new DefinitionError(
          `${path}.${name}`,
          "the alternatives declare it differently; a field has one schema in a CRD",
        );
      } else properties[name] = property;
    }
  }
  const everywhere = (name: string) => schemas.every((schema) => schema.required?.includes(name));
  const names = Object.keys(properties);
  if (discriminator !== undefined) {
    const type = schemas[0]!.properties![discriminator]!.type;
    properties[discriminator] = { type, enum: [...new Set(values)] };
  }
  const required = Object.keys(properties).filter(everywhere);
  return {
    type: "object",
    properties,
    ...(required.length > 0 && { required }),
    oneOf: schemas.map((schema) => alternative(schema, names, discriminator)),
  };
}

function alternative(schema: Schema, names: readonly string[], discriminator: string | undefined): Schema {
  const foreign = names.filter((name) => !(name in schema.properties!));
  return {
    ...(discriminator !== undefined && {
      properties: { [discriminator]: { enum: schema.properties![discriminator]!.enum } },
    }),
    ...(schema.required && { required: schema.required }),
    ...(foreign.length > 0 && { not: { anyOf: foreign.map((name) => ({ required: [name] })) } }),
  };
}
