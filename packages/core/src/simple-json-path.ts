/**
 * The narrow paths that stand in CRDs: dots and names, such as `.spec.replicas`. Printer columns are read as full
 * {@link JsonPath}s once the server has accepted them, scale paths are split at their dots, and the paths of selectable
 * fields and validation rules must lead to a field of the schema.
 */
import { JsonPathError } from "./json-path-parser.ts";
import type { Schema } from "./schema-node.ts";

/** What a server finds wrong with the path of a printer column or of a scale, if anything. */
export function simpleJsonPathError(path: string): string | undefined {
  if (path === "") return "must not be empty";
  return path.startsWith(".") ? undefined : "must be a simple json path starting with .";
}

/** What a server finds wrong with a path of a scale subresource, if anything. */
export function scalePathError(
  field: "specReplicasPath" | "statusReplicasPath" | "labelSelectorPath",
  path: string,
): string | undefined {
  const error = simpleJsonPathError(path);
  if (error) return error;
  const [inSpec, inStatus] = [path.startsWith(".spec."), path.startsWith(".status.")];
  if (field === "specReplicasPath") return inSpec ? undefined : "should be a json path under .spec";
  if (field === "statusReplicasPath") return inStatus ? undefined : "should be a json path under .status";
  return inSpec || inStatus ? undefined : "should be a json path under either .spec or .status";
}

/** The names along a path of a scale subresource: `.spec.replicas` is `["spec", "replicas"]`. */
export function splitSimplePath(path: string): string[] {
  return (path.startsWith(".") ? path.slice(1) : path).split(".");
}

/** The value at the end of a path of names, or undefined where it leads nowhere. */
export function valueAt(object: unknown, names: readonly string[]): unknown {
  let value = object;
  for (const name of names) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** Where a path leads in a schema. */
export interface SchemaField {
  /** The path as error messages write it: `spec.limits[cpu]`. */
  path: string;
  names: string[];
  schema: Schema | undefined;
}

/**
 * Follows `.spec.name` or, unless `brackets` is false, `.spec['name']` through a schema, as is asked of selectable fields
 * and of the fieldPath of validation rules; throws a {@link JsonPathError} where it does not lead to a field.
 */
export function fieldInSchema(path: string, root: Schema, options: { brackets?: boolean } = {}): SchemaField {
  const field: SchemaField = { path: "", names: [], schema: root };
  const tokens = tokenize(path).values();
  const next = () => {
    const { value, done } = tokens.next();
    if (done) throw new JsonPathError("unexpected end of JSON path");
    return value;
  };
  for (const token of tokens) {
    if (token === ".") {
      descend(field, next());
    } else if (token === "[") {
      if (options.brackets === false) throw new JsonPathError("array notation is not allowed");
      descend(field, unquote(next()));
      const closing = next();
      if (closing !== "]") throw new JsonPathError(`expected ] but got ${closing}`);
    } else {
      throw new JsonPathError(`expected [ or . but got: ${token}`);
    }
  }
  return field;
}

function descend(field: SchemaField, name: string): void {
  const { properties, additionalProperties } = field.schema ?? {};
  if (properties) {
    if (!Object.hasOwn(properties, name)) throw new JsonPathError("does not refer to a valid field");
    field.schema = properties[name];
    field.path += field.path === "" ? name : `.${name}`;
  } else if (additionalProperties) {
    field.schema = additionalProperties === true ? undefined : additionalProperties;
    field.path += `[${name}]`;
  } else {
    throw new JsonPathError("does not refer to a valid field");
  }
  field.names.push(name);
}

/** Delimiters, strings in single quotes (in which delimiters are plain text), and whatever stands between. */
function tokenize(path: string): string[] {
  return path.match(/[.[\]]|'.*?(?<!\\)'|'.*|[^.[\]]+/gs) ?? [];
}

const ESCAPES: Record<string, string> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "'": "'",
  "\\": "\\",
};

function unquote(token: string): string {
  if (token.length < 2 || !token.startsWith("'") || !token.endsWith("'")) {
    throw new JsonPathError(`expected single quoted string but got ${token}`);
  }
  return token.slice(1, -1).replace(/\\(.)/g, (found, letter: string) => {
    const character = ESCAPES[letter];
    if (character === undefined) throw new JsonPathError(`invalid string literal: invalid escape char ${found}`);
    return character;
  });
}
