/**
 * The schema of a release's `spec`: the values that a user sets. It comes from the chart's values.schema.json, as far as a
 * CustomResourceDefinition can express it, or is inferred from its defaults. Fields that it does not know are kept: a chart may read
 * them, and Helm's own validation has the last word when the chart is rendered.
 */
import { isObject, type Schema } from "@konverge/core";
import type { ChartFacts } from "./engine/rendered.ts";

/** Where the schema is from. */
export type ValuesSchemaSource = "values.schema.json" | "inferred";

/** JSON Schema, as far as it is read. */
type JsonSchema = Readonly<Record<string, unknown>>;

const ANYTHING: Schema = { "x-kubernetes-preserve-unknown-fields": true, nullable: true };
const DEEPEST = 20;

/** The schema of the values of a chart. */
export function valuesSchema({ schema, values }: ChartFacts): { schema: Schema; from: ValuesSchemaSource } {
  if (schema === undefined || schema === "") return { schema: asSpec(inferred(values)), from: "inferred" };
  const root = JSON.parse(Buffer.from(schema, "base64").toString()) as JsonSchema;
  return { schema: asSpec(new Conversion(root).convert(root, values, [])), from: "values.schema.json" };
}

/** A spec is an object, whatever its chart says. */
function asSpec({ properties, required }: Schema): Schema {
  return {
    type: "object",
    "x-kubernetes-preserve-unknown-fields": true,
    ...(properties && { properties }),
    ...(required && { required }),
  };
}

/** What defaults say about types. An empty text or list, or null, says nothing. */
function inferred(value: unknown): Schema {
  if (typeof value === "boolean") return { type: "boolean", nullable: true };
  if (typeof value === "number") {
    // `maxUnavailable: 1` may be `50%` as well.
    return Number.isInteger(value)
      ? { "x-kubernetes-int-or-string": true, nullable: true }
      : { type: "number", nullable: true };
  }
  if (typeof value === "string" && value !== "") return { type: "string", nullable: true };
  if (!isObject(value)) return ANYTHING;
  return objectOf(Object.entries(value).map(([name, one]) => [name, inferred(one)] as const));
}

function objectOf(fields: readonly (readonly [string, Schema])[], required: readonly string[] = []): Schema {
  return {
    type: "object",
    "x-kubernetes-preserve-unknown-fields": true,
    nullable: true,
    ...(fields.length > 0 && { properties: Object.fromEntries(fields) }),
    ...(required.length > 0 && { required: [...required] }),
  };
}

class Conversion {
  readonly #root: JsonSchema;

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  /** `path` has the references that led here: a schema that contains itself is cut off. */
  convert(given: unknown, defaults: unknown, path: readonly string[]): Schema {
    if (!isObject(given) || path.length > DEEPEST) return ANYTHING;
    const { $ref } = given as JsonSchema;
    if (typeof $ref === "string") {
      const target = path.includes($ref) ? undefined : this.#find($ref);
      return target === undefined ? ANYTHING : this.convert(target, defaults, [...path, $ref]);
    }
    const schema = given as JsonSchema;
    const types = [schema["type"]].flat().filter((type) => type !== "null");
    if (types.length === 2 && types.includes("integer") && types.includes("string")) {
      return { "x-kubernetes-int-or-string": true, nullable: true };
    }
    if (types.length !== 1)
      return isObject(schema["properties"]) && types.length === 0 ? this.#object(schema, defaults, path) : ANYTHING;
    switch (types[0]) {
      case "object":
        return this.#object(schema, defaults, path);
      case "array":
        return {
          type: "array",
          nullable: true,
          items: this.convert(schema["items"], undefined, path),
          ...numbers(schema, LISTS),
        };
      case "string":
        return { type: "string", nullable: true, ...numbers(schema, TEXTS), ...patternOf(schema), ...enumOf(schema) };
      case "integer":
      case "number":
        return { type: types[0] as "integer", nullable: true, ...range(schema), ...enumOf(schema) };
      case "boolean":
        return { type: "boolean", nullable: true };
      default:
        return ANYTHING;
    }
  }

  /** What has a default need not be set. */
  #object(schema: JsonSchema, defaults: unknown, path: readonly string[]): Schema {
    const below = isObject(defaults) ? (defaults as JsonSchema) : {};
    const properties = isObject(schema["properties"]) ? (schema["properties"] as JsonSchema) : {};
    const required = Array.isArray(schema["required"]) ? (schema["required"] as string[]) : [];
    const fields = Object.entries(properties).map(
      ([name, one]) => [name, this.convert(one, below[name], [...path, name])] as const,
    );
    return objectOf(
      fields,
      required.filter((name) => name in properties && !(name in below)),
    );
  }

  #find(reference: string): unknown {
    if (!reference.startsWith("#")) return undefined;
    let found: unknown = this.#root;
    for (const part of reference.slice(1).split("/").filter(Boolean)) {
      const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
      found = isObject(found) ? (found as JsonSchema)[name] : undefined;
    }
    return found;
  }
}

const LISTS = ["minItems", "maxItems"];
const TEXTS = ["minLength", "maxLength"];

function numbers(schema: JsonSchema, names: readonly string[]): Schema {
  return Object.fromEntries(names.filter((name) => Number.isInteger(schema[name])).map((name) => [name, schema[name]]));
}

/** Since draft 6, an exclusive limit is a number. */
function range(schema: JsonSchema): Schema {
  const limit = (name: "Minimum" | "Maximum") => {
    const [inclusive, exclusive] = [schema[name.toLowerCase()], schema[`exclusive${name}`]];
    if (typeof exclusive === "number") return { [name.toLowerCase()]: exclusive, [`exclusive${name}`]: true };
    if (typeof inclusive !== "number") return {};
    return { [name.toLowerCase()]: inclusive, ...(exclusive === true && { [`exclusive${name}`]: true }) };
  };
  return { ...limit("Minimum"), ...limit("Maximum") };
}

/** API servers know no look-around. */
function patternOf({ pattern }: JsonSchema): Schema {
  return typeof pattern === "string" && !/\(\?[=!<]|\\[1-9]/.test(pattern) ? { pattern } : {};
}

function enumOf(schema: JsonSchema): Schema {
  const values = Array.isArray(schema["enum"]) ? schema["enum"] : "const" in schema ? [schema["const"]] : undefined;
  return values === undefined ? {} : { enum: values as never };
}
