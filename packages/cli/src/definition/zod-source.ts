import { deepEqual, type Schema, type ValidationRule } from "@konverge/core";
import { typeText } from "@konverge/schema";

/** Zod's formats by the API server's. */
const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "z.iso.datetime()",
  date: "z.iso.date()",
  email: "z.email()",
  uri: "z.url()",
  uuid: "z.uuid()",
  ipv4: "z.ipv4()",
  ipv6: "z.ipv6()",
  byte: "z.base64()",
  hostname: "z.hostname()",
  mac: "z.mac()",
};

const NUMBERS: Readonly<Record<string, string>> = {
  "integer ": "z.int()",
  "integer int64": "z.int()",
  "integer int32": "z.int32()",
  "number ": "z.number()",
  "number float": "z.float32()",
  "number double": "z.float64()",
};

/** Keywords that the code below writes, by type. */
const ANY = ["type", "description", "default", "nullable", "x-kubernetes-validations"];
const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  string: ["minLength", "maxLength", "pattern", "format", "enum"],
  integer: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format", "enum"],
  number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format", "enum"],
  boolean: ["enum"],
  array: ["items", "minItems", "maxItems", "x-kubernetes-list-type", "x-kubernetes-list-map-keys"],
  object: [
    "properties",
    "required",
    "additionalProperties",
    "minProperties",
    "maxProperties",
    "x-kubernetes-map-type",
    "x-kubernetes-preserve-unknown-fields",
  ],
  any: ["x-kubernetes-preserve-unknown-fields"],
};

/** How controller-gen and Konverge write quantities and numbers or texts. */
const EITHER = [{ type: "integer" }, { type: "string" }];
const isQuantityPattern = (pattern: string | undefined) => pattern?.includes("[KMGTPE]i") ?? false;

/**
 * Writes schemas as Zod, and remembers what of Konverge the text imports. What Zod has no words for is written with
 * `rawSchema`, exactly as it is, and noted.
 */
export class ZodSource {
  /** Names that the text imports from konverge. */
  readonly imports = new Set<string>();
  /** What is not written in Zod, and why. */
  readonly notes: string[] = [];

  /** The Zod schema of a value: `z.string().min(1)`. */
  expression(schema: Schema, path: string, pad: string): string {
    const odd = oddKeyword(schema);
    const text = odd ? this.#raw(schema, path, pad, odd) : this.#plain(schema, path, pad);
    if (odd) return text;
    const described = schema.description ? `.describe(${JSON.stringify(schema.description.trim())})` : "";
    return `${text}${this.#checks(schema)}${schema.nullable ? ".nullable()" : ""}${described}${defaultText(schema)}`;
  }

  /** A rule as `cel` takes it. */
  rule({ rule, ...more }: ValidationRule): string {
    const keys = Object.keys(more);
    const rest =
      keys.length === 0 ? "" : `, ${keys.join() === "message" ? JSON.stringify(more.message) : literal(more)}`;
    return `${this.#use("cel")}(${JSON.stringify(rule)}${rest})`;
  }

  use(name: string): string {
    return this.#use(name);
  }

  #use(name: string): string {
    this.imports.add(name);
    return name;
  }

  #raw(schema: Schema, path: string, pad: string, keyword: string): string {
    const { default: value, ...rest } = schema;
    this.notes.push(`${path} is written with rawSchema: ${keyword} has no equal in Zod`);
    const whole = value === undefined || value === null ? rest : schema;
    return `${this.#use("rawSchema")}<${typeText(schema, pad)}>(${literal(whole)})${whole === rest ? "" : ".optional()"}`;
  }

  #plain(schema: Schema, path: string, pad: string): string {
    if (schema["x-kubernetes-int-or-string"]) {
      return isQuantityPattern(schema.pattern) ? `${this.#use("quantity")}()` : `${this.#use("intOrString")}()`;
    }
    if (schema.enum) {
      const values = schema.enum.filter((value) => value !== null).map((value) => JSON.stringify(value));
      return schema.type === "string" ? `z.enum([${values.join(", ")}])` : `z.literal([${values.join(", ")}])`;
    }
    switch (schema.type) {
      case "string":
        return this.#string(schema);
      case "integer":
      case "number":
        return `${NUMBERS[`${schema.type} ${schema.format ?? ""}`]}${bounds(schema)}`;
      case "boolean":
        return "z.boolean()";
      case "array": {
        const { minItems, maxItems } = schema;
        return `z.array(${this.expression(schema.items ?? {}, `${path}[]`, pad)})${call("min", minItems)}${call("max", maxItems)}`;
      }
      case "object":
        return this.#object(schema, path, pad);
      default:
        return "z.unknown()";
    }
  }

  #string({ format, minLength, maxLength, pattern }: Schema): string {
    const base = format === undefined ? "z.string()" : FORMATS[format]!;
    const regex = pattern === undefined ? "" : `.regex(/${new RegExp(pattern).source}/)`;
    return `${base}${call("min", minLength)}${call("max", maxLength)}${regex}`;
  }

  #object(schema: Schema, path: string, pad: string): string {
    const { properties = {}, required = [], additionalProperties: values } = schema;
    if (typeof values === "object") return `z.record(z.string(), ${this.expression(values, `${path}.*`, pad)})`;
    const make = schema["x-kubernetes-preserve-unknown-fields"] ? "z.looseObject" : "z.object";
    const fields = Object.entries(properties);
    if (fields.length === 0) return `${make}({})`;
    const inner = `${pad}  `;
    const lines = fields.map(([name, field]) => {
      const text = this.expression(field, `${path}.${name}`, inner);
      const isOptional = !required.includes(name) && !hasDefault(field);
      return `${inner}${keyText(name)}: ${text}${isOptional ? ".optional()" : ""},\n`;
    });
    return `${make}({\n${lines.join("")}${pad}})`;
  }

  #checks(schema: Schema): string {
    const checks: string[] = [];
    const listType = schema["x-kubernetes-list-type"];
    const keys = schema["x-kubernetes-list-map-keys"] ?? [];
    if (schema.minProperties !== undefined) checks.push(`${this.#use("minProperties")}(${schema.minProperties})`);
    if (schema.maxProperties !== undefined) checks.push(`${this.#use("maxProperties")}(${schema.maxProperties})`);
    if (listType === "map")
      checks.push(`${this.#use("listMap")}(${keys.map((key) => JSON.stringify(key)).join(", ")})`);
    if (listType === "set") checks.push(`${this.#use("listSet")}()`);
    if (listType === "atomic" || schema["x-kubernetes-map-type"] === "atomic") checks.push(`${this.#use("atomic")}()`);
    for (const rule of schema["x-kubernetes-validations"] ?? []) checks.push(this.rule(rule));
    return checks.map((check) => `.check(${check})`).join("");
  }
}

/** A keyword of a schema that cannot be written in Zod; undefined if all of it can. */
function oddKeyword(schema: Schema): string | undefined {
  if (schema["x-kubernetes-int-or-string"]) return oddInEither(schema);
  const written = WRITTEN[schema.type ?? "any"] ?? [];
  const other = Object.keys(schema).find((keyword) => !ANY.includes(keyword) && !written.includes(keyword));
  if (other) return other;
  const { type, format, pattern, enum: values } = schema;
  if (type === undefined && !schema["x-kubernetes-preserve-unknown-fields"]) return "a schema without type";
  if (values && Object.keys(schema).some((keyword) => written.includes(keyword) && keyword !== "enum"))
    return "enum beside another condition";
  if (type === "string" && format !== undefined && !FORMATS[format]) return `format ${format}`;
  if ((type === "integer" || type === "number") && !NUMBERS[`${type} ${format ?? ""}`]) return `format ${format}`;
  if (pattern !== undefined && !isJavaScript(pattern)) return `pattern ${pattern}`;
  if (schema["x-kubernetes-map-type"] === "granular") return "x-kubernetes-map-type granular";
  if (type === "array" && schema.items && hasDefault(schema.items)) return "a default of items";
  if (typeof schema.additionalProperties === "boolean") return "additionalProperties without a schema";
  if (schema.additionalProperties && schema.properties) return "properties beside additionalProperties";
  return undefined;
}

function oddInEither(schema: Schema): string | undefined {
  const known = [...ANY, "x-kubernetes-int-or-string", "anyOf", "pattern"];
  const other = Object.keys(schema).find((keyword) => !known.includes(keyword));
  if (other) return other;
  if (schema.anyOf && !deepEqual(schema.anyOf, EITHER)) return "anyOf";
  return schema.pattern === undefined || isQuantityPattern(schema.pattern) ? undefined : "pattern";
}

function isJavaScript(pattern: string): boolean {
  try {
    new RegExp(pattern);
    return true;
  } catch {
    return false;
  }
}

const hasDefault = (schema: Schema) => schema.default !== undefined && schema.default !== null;

/** Defaults of objects are given as they are written: defaults inside of them are filled in. */
function defaultText(schema: Schema): string {
  if (!hasDefault(schema)) return "";
  const isNested = schema.type === "object" || schema.type === "array";
  return `.${isNested ? "prefault" : "default"}(${literal(schema.default)})`;
}

function bounds({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: Schema): string {
  const least = call(exclusiveMinimum ? "gt" : "min", minimum);
  return `${least}${call(exclusiveMaximum ? "lt" : "max", maximum)}${call("multipleOf", multipleOf)}`;
}

const call = (name: string, value: number | undefined) => (value === undefined ? "" : `.${name}(${value})`);

/** The name of a field in an object literal. */
export const keyText = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

/** A JSON value as an object literal. */
export function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return fields.length === 0
    ? "{}"
    : `{ ${fields.map(([name, field]) => `${keyText(name)}: ${literal(field)}`).join(", ")} }`;
}
