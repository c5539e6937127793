import { goText, isTooDeep, parseJson, quoted, stringifyJson, toGoJson, WholeFloat } from "@konverge/core";

/** A place in an object: path elements from the root, as in `["f:spec", "f:containers", "k:{\"name\":\"web\"}"]`. */
export type FieldPath = readonly string[];

/**
 * Path elements are text, as managedFields has them: `f:replicas` is a field, `k:{"name":"web"}` the item of a list with
 * these keys, `v:"x"` the item of a set with this value, `i:0` the item at an index.
 */
export const fieldElement = (name: string): string => `f:${name}`;

/** A JSON value as the API server writes it into an element: Go escapes a few characters that JavaScript does not. */
export function elementJson(value: unknown): string {
  const json = stringifyJson(value);
  return typeof value === "string" && GO_ESCAPES.test(json) ? toGoJson(value) : json;
}

const GO_ESCAPES = /[<>&\u2028\u2029]/;

/** The element of the item of a list-map with these keys, which must be sorted by name. */
export function keyElement(keys: readonly (readonly [name: string, value: unknown])[]): string {
  return `k:{${keys.map(([name, value]) => `${JSON.stringify(name)}:${elementJson(value)}`).join(",")}}`;
}

/** The element of the item of a set. */
export const valueElement = (value: unknown): string => `v:${elementJson(value)}`;

/**
 * The canonical form of an element that another client wrote; undefined for a kind of element that we do not know,
 * which is to be ignored. Throws when it is malformed.
 */
export function canonicalElement(element: string): string | undefined {
  if (element.startsWith("f:")) return element;
  const known = canonicalForms.get(element);
  if (known !== undefined) return known;
  const canonical = canonicalise(element);
  if (canonical === undefined || element.length > LONGEST_REMEMBERED) return canonical;
  if (canonicalForms.size >= REMEMBERED_FORMS) canonicalForms.clear();
  canonicalForms.set(element, canonical);
  return canonical;
}

/** Parsing is dear and the same few elements (`k:{"type":"Ready"}`) come again and again. */
const canonicalForms = new Map<string, string>();
const REMEMBERED_FORMS = 4096;
const LONGEST_REMEMBERED = 256;

function canonicalise(element: string): string | undefined {
  if (element.length < 2) throw new Error("key must be 2 characters long:");
  if (element[1] !== ":") throw new Error(`missing colon: ${element}`);
  const content = element.slice(2);
  switch (element[0]) {
    case "k": {
      const keys = parsedContent(content);
      if (typeof keys !== "object" || keys === null || Array.isArray(keys)) throw new Error(`no keys in ${element}`);
      return keyElement(Object.entries(keys).sort(([a], [b]) => compareText(a, b)));
    }
    case "v":
      return valueElement(parsedContent(content));
    case "i":
      if (!/^[+-]?[0-9]+$/.test(content)) throw new Error(`strconv.Atoi: parsing ${quoted(content)}: invalid syntax`);
      return `i:${Number(content)}`;
    default:
      return undefined;
  }
}

function parsedContent(json: string): unknown {
  const value = parseJson(json);
  if (isTooDeep(value)) throw new Error("exceeded max depth");
  return value;
}

const KIND_ORDER = "fkvi";

/** An element and what it stands for, where that is written as JSON: to be compared more than once. */
export interface ReadElement {
  readonly element: string;
  readonly content?: unknown;
}

export function readElement(element: string): ReadElement {
  const kind = element[0];
  return kind === "k" || kind === "v" ? { element, content: parseJson(element.slice(2)) } : { element };
}

/** The order of the API server: fields by name, then items by keys, by value, by index. */
export function compareRead(
  { element: a, content: left }: ReadElement,
  { element: b, content: right }: ReadElement,
): number {
  if (a === b) return 0;
  const kind = a[0]!;
  if (kind !== b[0]) return KIND_ORDER.indexOf(kind) - KIND_ORDER.indexOf(b[0]!);
  if (kind === "f") return compareText(a, b);
  if (kind === "i") return Number(a.slice(2)) - Number(b.slice(2));
  return kind === "v" ? compareValues(left, right) : compareKeys(left as object, right as object);
}

function compareKeys(a: object, b: object): number {
  const [left, right] = [Object.entries(a), Object.entries(b)];
  for (let i = 0; i < left.length && i < right.length; i++) {
    const order = compareText(left[i]![0], right[i]![0]) || compareValues(left[i]![1], right[i]![1]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** Numbers before text before booleans before lists before maps before null. */
function compareValues(a: unknown, b: unknown): number {
  const kind = rank(a) - rank(b);
  if (kind !== 0) return kind;
  if (typeof a === "string") return compareText(a, b as string);
  if (typeof a === "object" && a !== null) return compareText(stringifyJson(a), stringifyJson(b));
  const [left, right] = [a as number | bigint | boolean, b as number | bigint | boolean];
  return left < right ? -1 : left > right ? 1 : 0;
}

function rank(value: unknown): number {
  if (typeof value === "number" || typeof value === "bigint") return 0;
  if (typeof value === "string") return 1;
  if (typeof value === "boolean") return 2;
  if (Array.isArray(value)) return 3;
  return value === null ? 5 : 4;
}

/** Go compares text by its UTF-8 bytes, where characters beyond the basic plane come last; JavaScript does not. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [left, right] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (left !== right) return order(left) - order(right);
  }
  return a.length - b.length;
}

/** Surrogates stand for what comes after all else. */
const order = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

/** A path as messages show it: `.spec.containers[name="web"].image`. */
export function pathText(path: FieldPath): string {
  return path.map(elementText).join("");
}

function elementText(element: string): string {
  const content = element.slice(2);
  switch (element[0]) {
    case "f":
      return `.${content}`;
    case "k": {
      const keys = Object.entries(parseJson(content) as object);
      return `[${keys.map(([name, value]) => `${name}=${valueText(value)}`).join(",")}]`;
    }
    case "v":
      return `[=${valueText(parseJson(content))}]`;
    default:
      return `[${content}]`;
  }
}

/** Numbers come out of managedFields as floats and are shown as such. */
function valueText(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "string") return quoted(value);
  return goText(typeof value === "number" ? new WholeFloat(value) : value);
}
