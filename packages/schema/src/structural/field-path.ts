import type { Schema } from "@konverge/core";
import { propertySchema, valuesSchema } from "./schema-fields.ts";

/** A path that does not lead anywhere. */
export class FieldPathError extends Error {
  override readonly name = "FieldPathError";
}

export interface ResolvedPath {
  /** The path as causes have it: `spec.labels[a.b]`. */
  path: string;
  /** The first field on the way. */
  root: string;
  /** The schema of what the path leads to; undefined below a map whose values have none. */
  schema: Schema | undefined;
}

/**
 * Follows a path of fields and quoted keys (`.spec.labels['a.b']`) through a schema, as the `fieldPath` of a CEL rule
 * and selectable fields are written. Throws a {@link FieldPathError} where it leads to no field.
 */
export function resolveFieldPath(schema: Schema, text: string, options: { brackets?: boolean } = {}): ResolvedPath {
  const tokens = tokenize(text);
  let node: Schema | undefined = schema;
  let path = "";
  let root = "";
  const step = (name: string) => {
    const { properties, additionalProperties }: Schema = node ?? {};
    if (properties) {
      const property: Schema | undefined = propertySchema(node!, name);
      if (!property) throw new FieldPathError("does not refer to a valid field");
      node = property;
      path = path === "" ? name : `${path}.${name}`;
    } else if (additionalProperties !== undefined) {
      node = valuesSchema(node!);
      path = `${path}[${name}]`;
    } else throw new FieldPathError("does not refer to a valid field");
    root ||= name;
  };
  const next = (): string => {
    const token = tokens.shift();
    if (token === undefined) throw new FieldPathError("unexpected end of JSON path");
    return token;
  };
  while (tokens.length > 0) {
    const token = next();
    if (token === ".") step(next());
    else if (token === "[") {
      if (options.brackets === false) throw new FieldPathError("array notation is not allowed");
      step(unquoted(next()));
      const close = next();
      if (close !== "]") throw new FieldPathError(`expected ] but got ${close}`);
    } else throw new FieldPathError(`expected [ or . but got: ${token}`);
  }
  return { path, root, schema: node };
}

function tokenize(text: string): string[] {
  return text.match(/'(?:\\'|[^'])*'|[.[\]]|[^.[\]']+[^.[\]]*|'.*/gs) ?? [];
}

function unquoted(token: string): string {
  if (token.length < 2 || !token.startsWith("'") || !token.endsWith("'")) {
    throw new FieldPathError(`expected single quoted string but got ${token}`);
  }
  return token.slice(1, -1).replace(/\\./gs, (sequence) => {
    const character = ESCAPES[sequence[1]!];
    if (character === undefined) throw new FieldPathError(`invalid string literal: invalid escape char ${sequence}`);
    return character;
  });
}

const ESCAPES: Record<string, string> = {
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "'": "'",
  "\\": "\\",
};
