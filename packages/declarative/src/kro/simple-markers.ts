/** The markers of kro's simple schema: what stands behind the bar, as in `string | required=true enum="a,b"`. */
import type { Schema } from "@konverge/core";

/** A schema that is being built. */
export type Building = { -readonly [K in keyof Schema]: Schema[K] } & { required?: string[] };

/** A marker, such as `default=1`. */
interface Marker {
  readonly key: string;
  readonly value: string;
}

/** Splits markers at the spaces that are neither in quotes nor in brackets. */
export function parseMarkers(text: string): Marker[] {
  const markers: Marker[] = [];
  const pattern = /\s*([A-Za-z]+)\s*=\s*/y;
  let at = 0;
  while (text.slice(at).trim() !== "") {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (!match) throw new Error(`${text.slice(at).trim()} is not a marker: write key=value`);
    const end = endOfValue(text, pattern.lastIndex);
    markers.push({ key: match[1]!, value: unquoted(text.slice(pattern.lastIndex, end).trim()) });
    at = end;
  }
  return markers;
}

function endOfValue(text: string, start: number): number {
  let depth = 0;
  let inQuotes = false;
  let at = start;
  for (; at < text.length; at++) {
    const c = text[at]!;
    if (inQuotes && c === "\\") at++;
    else if (c === '"') inQuotes = !inQuotes;
    else if (inQuotes) continue;
    else if (c === "{" || c === "[") depth++;
    else if (c === "}" || c === "]") depth--;
    else if (/\s/.test(c) && depth === 0) break;
  }
  if (inQuotes) throw new Error(`a quote is not closed: ${text.slice(start)}`);
  if (depth !== 0) throw new Error(`a bracket is not closed, or closed twice: ${text.slice(start)}`);
  return at;
}

function unquoted(value: string): string {
  if (value.length < 2 || !value.startsWith('"') || !value.endsWith('"')) return value;
  return value.slice(1, -1).replace(/\\(["\\])/g, "$1");
}

/** Applies markers to the schema of a field; `required` goes to the object that has the field. */
export function applyMarkers(markers: readonly Marker[], schema: Building, name: string, parent: Building): void {
  for (const { key, value } of markers) {
    const apply = Object.hasOwn(MARKERS, key) ? MARKERS[key] : undefined;
    if (!apply) throw new Error(`there is no marker ${key}: the markers are ${Object.keys(MARKERS).join(", ")}`);
    apply(schema, value, name, parent);
  }
  if (schema["x-kubernetes-list-map-keys"] && schema["x-kubernetes-list-type"] !== "map")
    throw new Error("listMapKey needs listType=map");
}

type Apply = (schema: Building, value: string, name: string, parent: Building) => void;

const MARKERS: Readonly<Record<string, Apply>> = {
  required(_, value, name, parent) {
    if (bool("required", value)) parent.required = [...new Set([...(parent.required ?? []), name])];
  },
  default(schema, value) {
    schema.default = defaultOf(schema, value);
  },
  description(schema, value) {
    schema.description = value;
  },
  minimum(schema, value) {
    schema.minimum = number("minimum", value);
  },
  maximum(schema, value) {
    schema.maximum = number("maximum", value);
  },
  validation(schema, value) {
    if (value.trim() === "") throw new Error("validation is empty: write a CEL rule about self");
    addRule(schema, value, "validation failed");
  },
  immutable(schema, value) {
    if (bool("immutable", value)) addRule(schema, "self == oldSelf", "field is immutable");
  },
  enum(schema, value) {
    schema.enum = value.split(",").map((one) => enumValue(schema, one.trim()));
  },
  pattern(schema, value) {
    only(schema, "string", "pattern");
    if (value === "") throw new Error("pattern is empty");
    schema.pattern = value;
  },
  minLength(schema, value) {
    only(schema, "string", "minLength");
    schema.minLength = integer("minLength", value);
  },
  maxLength(schema, value) {
    only(schema, "string", "maxLength");
    schema.maxLength = integer("maxLength", value);
  },
  minItems(schema, value) {
    only(schema, "array", "minItems");
    schema.minItems = integer("minItems", value);
  },
  maxItems(schema, value) {
    only(schema, "array", "maxItems");
    schema.maxItems = integer("maxItems", value);
  },
  uniqueItems(schema, value) {
    only(schema, "array", "uniqueItems");
    if (bool("uniqueItems", value)) setListType(schema, "set");
  },
  listType(schema, value) {
    only(schema, "array", "listType");
    if (value !== "atomic" && value !== "set" && value !== "map")
      throw new Error(`listType is ${value}: it must be atomic, set or map`);
    setListType(schema, value);
  },
  listMapKey(schema, value) {
    only(schema, "array", "listMapKey");
    schema["x-kubernetes-list-map-keys"] = [...(schema["x-kubernetes-list-map-keys"] ?? []), value];
  },
};

function addRule(schema: Building, rule: string, message: string): void {
  schema["x-kubernetes-validations"] = [...(schema["x-kubernetes-validations"] ?? []), { rule, message }];
}

function setListType(schema: Building, type: NonNullable<Schema["x-kubernetes-list-type"]>): void {
  const known = schema["x-kubernetes-list-type"];
  if (known && known !== type) throw new Error(`the list cannot be both a ${known} and a ${type}`);
  schema["x-kubernetes-list-type"] = type;
}

function only(schema: Building, type: NonNullable<Schema["type"]>, marker: string): void {
  if (schema.type !== type) throw new Error(`${marker} is for fields of type ${type}, not ${schema.type ?? "any"}`);
}

function defaultOf(schema: Building, value: string): unknown {
  switch (schema.type) {
    case "string":
      return value;
    case "integer":
      return integer("default", value);
    case "number":
      return number("default", value);
    case "boolean":
      return bool("default", value);
    default:
      try {
        return JSON.parse(value);
      } catch {
        throw new Error(`default is ${value}: it must be JSON`);
      }
  }
}

function enumValue(schema: Building, value: string): unknown {
  if (value === "") throw new Error("enum has an empty value");
  if (schema.type === "string") return value;
  if (schema.type === "integer") return integer("enum", value);
  throw new Error(`enum is for fields of type string and integer, not ${schema.type ?? "any"}`);
}

function bool(marker: string, value: string): boolean {
  if (/^(1|t|true)$/i.test(value)) return true;
  if (/^(0|f|false)$/i.test(value)) return false;
  throw new Error(`${marker} is ${value}: it must be true or false`);
}

function integer(marker: string, value: string): number {
  if (!/^[+-]?\d+$/.test(value)) throw new Error(`${marker} is ${value}: it must be an integer`);
  return Number(value);
}

function number(marker: string, value: string): number {
  if (value === "" || !Number.isFinite(Number(value))) throw new Error(`${marker} is ${value}: it must be a number`);
  return Number(value);
}
