import type { Schema } from "../diff-crd/schema-changes.ts";

type Described = Schema & { readonly description?: string };

/** A row for each field of a schema, nested ones below the field that they are in; names are whole paths. */
export function fieldRows(schema: Schema, path: string): string[] {
  const own = row(schema, path, false);
  return [own, ...nested(schema, path)];
}

function nested(schema: Schema, path: string): string[] {
  const needed = new Set(schema.required);
  const fields = Object.entries(schema.properties ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, field]) => {
      const at = `${path}.${name}`;
      return [row(field, at, needed.has(name)), ...nested(field, at)];
    });
  const items = schema.items ? nested(schema.items, `${path}[]`) : [];
  const { additionalProperties: values } = schema;
  return [...fields, ...items, ...(typeof values === "object" ? nested(values, `${path}[*]`) : [])];
}

function row(schema: Described, path: string, required: boolean): string {
  const words = [schema.description?.trim() ?? "", required && schema.default === undefined ? "Required." : ""];
  const checks = checksOf(schema);
  const value = defaultOf(schema);
  if (value !== undefined) words.push(`Default: \`${value}\`.`);
  if (checks.length > 0) words.push(`${capital(checks.join("; "))}.`);
  return `| \`${path}\` | ${cell(typeName(schema))} | ${cell(words.filter((one) => one !== "").join(" "))} |`;
}

/** The default of an object with fields is made of those of its fields, which have rows. */
function defaultOf({ default: value, properties }: Schema): string | undefined {
  return value === undefined || (properties && typeof value === "object") ? undefined : JSON.stringify(value);
}

/** `string`, `[]object`, `map[string]integer`. */
export function typeName(schema: Schema): string {
  if (schema["x-kubernetes-int-or-string"]) return "integer or string";
  const { type, items, additionalProperties: values } = schema;
  if (type === "array") return `[]${items ? typeName(items) : "any"}`;
  if (type === "object" && typeof values === "object") return `map[string]${typeName(values)}`;
  return `${type ?? "any"}${schema.nullable ? " or null" : ""}`;
}

/** What is checked, in words. */
function checksOf(schema: Schema, of = ""): string[] {
  const number = (name: string) => (schema as Record<string, unknown>)[name] as number | undefined;
  const { enum: values, pattern, format, items } = schema;
  const between = (low: string, high: string, what = "") => {
    const [least, most] = [number(low), number(high)];
    const amount = (count: number) => (what ? `${count} ${what}${count === 1 ? "" : "s"}` : `${count}`);
    if (least !== undefined && least === most) return [`exactly ${amount(least)}`];
    return [
      ...(least === undefined ? [] : [`at least ${amount(least)}`]),
      ...(most === undefined ? [] : [`at most ${amount(most)}`]),
    ];
  };
  const bounds = [
    ...(number("exclusiveMinimum") ? [`above ${number("minimum")}`] : between("minimum", "none")),
    ...(number("exclusiveMaximum") ? [`below ${number("maximum")}`] : between("none", "maximum")),
    ...between("minLength", "maxLength", "character"),
    ...between("minItems", "maxItems", "item"),
    ...between("minProperties", "maxProperties", "key"),
  ];
  const keys = schema["x-kubernetes-list-map-keys"];
  const rules = (schema["x-kubernetes-validations"] ?? []) as readonly { rule: string; message?: string }[];
  return [
    ...(values ? [`one of ${values.map((one) => `\`${JSON.stringify(one)}\``).join(", ")}`] : []),
    ...bounds,
    ...(number("multipleOf") === undefined ? [] : [`a multiple of ${number("multipleOf")}`]),
    ...(pattern === undefined ? [] : [`matches \`${pattern}\``]),
    ...(format === undefined || /^(int|float|double)/.test(format) ? [] : [`format ${format}`]),
    ...(keys ? [`unique by ${keys.map((key) => `\`${key}\``).join(", ")}`] : []),
    ...(schema["x-kubernetes-list-type"] === "set" ? ["no item twice"] : []),
    ...(schema["x-kubernetes-preserve-unknown-fields"] ? ["any field is kept"] : []),
    ...rules.map(ruleText),
    ...(items ? checksOf(items, "each item: ") : []),
  ].map((check) => of + check);
}

/** A rule, and the message of the API server if it does not hold. */
export function ruleText({ rule, message }: { readonly rule: string; readonly message?: string }): string {
  return `\`${rule.trim().replace(/\s+/g, " ")}\` must be true${message ? ` ("${message.trim()}")` : ""}`;
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Text in a cell of a table: one line, in which no bar ends the cell and no angle bracket starts an element. */
export function cell(text: string): string {
  const line = text.trim().replace(/\s+/g, " ").replaceAll("|", "\\|");
  // Every second part is code, in which everything is literal.
  return line
    .split("`")
    .map((part, i) => (i % 2 === 0 ? part.replaceAll("<", "&lt;") : part))
    .join("`");
}
