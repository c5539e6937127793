/** A structural schema, as far as its changes matter. */
export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly pattern?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: string;
  readonly "x-kubernetes-validations"?: readonly { readonly rule: string }[];
}

/** A change of a CRD. What breaks is what stops an existing object, client or manifest from working. */
export interface Change {
  readonly breaking: boolean;
  /** `v1 .spec.replicas`, or empty for the CRD itself. */
  readonly path: string;
  readonly message: string;
}

type Add = (breaking: boolean, path: string, message: string) => void;

/** All changes between two schemas of one version. */
export function schemaChanges(before: Schema, after: Schema, path: string, add: Add): void {
  typeChanges(before, after, path, add);
  enumChanges(before, after, path, add);
  boundChanges(before, after, path, add);
  textChanges(before, after, path, add);
  fieldChanges(before, after, path, add);
  listChanges(before, after, path, add);
  ruleChanges(before, after, path, add);
}

function typeChanges(before: Schema, after: Schema, path: string, add: Add): void {
  const [from, to] = [typeOf(before), typeOf(after)];
  if (from !== to) {
    // Every integer is a number, and every integer or text an int-or-string.
    const widens =
      (from === "integer" && to === "number") || (to === "int-or-string" && (from === "integer" || from === "string"));
    add(!widens && to !== "any", path, `type changed from ${from} to ${to}`);
  }
  if (before.format !== after.format) {
    const widens = after.format === undefined || (before.format === "int32" && after.format === "int64");
    add(!widens, path, `format changed from ${before.format ?? "none"} to ${after.format ?? "none"}`);
  }
  if (before.nullable && !after.nullable) add(true, path, "null is no longer accepted");
  if (!before.nullable && after.nullable) add(false, path, "null is accepted");
  if (text(before.default) !== text(after.default)) {
    // Objects that are written without the field now mean something else.
    const breaking = !isExtended(before.default, after.default);
    add(breaking, path, `default changed from ${text(before.default)} to ${text(after.default)}`);
  }
}

/** The default of an object gains the defaults of fields that are added to it. */
function isExtended(before: unknown, after: unknown): boolean {
  if (typeof before !== "object" || before === null || typeof after !== "object" || after === null) return false;
  const has = after as Record<string, unknown>;
  return Object.entries(before).every(([key, value]) => text(value) === text(has[key]) || isExtended(value, has[key]));
}

function enumChanges({ enum: from }: Schema, { enum: to }: Schema, path: string, add: Add): void {
  if (!from && to) add(true, path, `only these values are accepted: ${to.map(text).join(", ")}`);
  if (from && !to) add(false, path, "any value is accepted");
  if (!from || !to) return;
  const [known, kept] = [new Set(from.map(text)), new Set(to.map(text))];
  for (const value of known) if (!kept.has(value)) add(true, path, `value ${value} is no longer accepted`);
  for (const value of kept) if (!known.has(value)) add(false, path, `value ${value} is accepted`);
}

/** Bounds by name: whether a higher number accepts less. */
const BOUNDS = {
  minimum: true,
  minLength: true,
  minItems: true,
  minProperties: true,
  maximum: false,
  maxLength: false,
  maxItems: false,
  maxProperties: false,
} as const;

function boundChanges(before: Schema, after: Schema, path: string, add: Add): void {
  const number = (schema: Schema, name: string) => (schema as Record<string, number | undefined>)[name];
  for (const [name, isLower] of Object.entries(BOUNDS)) {
    const [from, to] = [number(before, name), number(after, name)];
    if (from === to) continue;
    const narrows = to !== undefined && (from === undefined || (isLower ? to > from : to < from));
    add(narrows, path, `${name} changed from ${from ?? "none"} to ${to ?? "none"}`);
  }
  for (const name of ["exclusiveMinimum", "exclusiveMaximum", "uniqueItems"] as const) {
    const [from, to] = [Boolean(number(before, name)), Boolean(number(after, name))];
    if (from !== to) add(to, path, `${name} changed from ${from} to ${to}`);
  }
  const [from, to] = [number(before, "multipleOf"), number(after, "multipleOf")];
  if (from !== to) add(to !== undefined, path, `multipleOf changed from ${from ?? "none"} to ${to ?? "none"}`);
}

function textChanges({ pattern: from }: Schema, { pattern: to }: Schema, path: string, add: Add): void {
  // Whether one pattern accepts all that another does cannot be told in general.
  if (from !== to) add(to !== undefined, path, `pattern changed from ${from ?? "none"} to ${to ?? "none"}`);
}

function fieldChanges(before: Schema, after: Schema, path: string, add: Add): void {
  const [from, to] = [before.properties ?? {}, after.properties ?? {}];
  for (const [name, schema] of Object.entries(from)) {
    const next = to[name];
    if (next) schemaChanges(schema, next, `${path}.${name}`, add);
    else if (isOpen(after)) add(false, `${path}.${name}`, "field is no longer described; unknown fields are kept");
    else add(true, `${path}.${name}`, "field removed: it is dropped from objects that are written");
  }
  for (const name of Object.keys(to)) if (!from[name]) add(false, `${path}.${name}`, "field added");
  const [needed, needs] = [new Set(before.required), new Set(after.required)];
  for (const name of needs) {
    // A field with a default is never absent.
    const isFilled = to[name]?.default !== undefined;
    if (!needed.has(name)) add(!isFilled, `${path}.${name}`, "field is required");
  }
  for (const name of needed) if (!needs.has(name) && to[name]) add(false, `${path}.${name}`, "field is optional");
  if (isOpen(before) && !isOpen(after)) add(true, path, "unknown fields are dropped");
  if (!isOpen(before) && isOpen(after)) add(false, path, "unknown fields are kept");
  const [values, nextValues] = [mapValues(before), mapValues(after)];
  if (values && nextValues) schemaChanges(values, nextValues, `${path}[*]`, add);
  else if (values && !isOpen(after)) add(true, path, "keys of any name are no longer accepted");
}

function listChanges(before: Schema, after: Schema, path: string, add: Add): void {
  if (before.items && after.items) schemaChanges(before.items, after.items, `${path}[]`, add);
  for (const name of ["x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"] as const) {
    const [from, to] = [text(before[name]), text(after[name])];
    // How server-side apply merges decides what several clients can own.
    if (from !== to) add(true, path, `${name} changed from ${from} to ${to}`);
  }
}

function ruleChanges(before: Schema, after: Schema, path: string, add: Add): void {
  const rules = (schema: Schema) => new Set((schema["x-kubernetes-validations"] ?? []).map(({ rule }) => rule));
  const [from, to] = [rules(before), rules(after)];
  for (const rule of to) if (!from.has(rule)) add(true, path, `validation rule added: ${rule}`);
  for (const rule of from) if (!to.has(rule)) add(false, path, `validation rule removed: ${rule}`);
}

const isOpen = (schema: Schema) =>
  schema["x-kubernetes-preserve-unknown-fields"] === true || schema.additionalProperties === true;

function mapValues({ additionalProperties }: Schema): Schema | undefined {
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}

function typeOf(schema: Schema): string {
  return schema["x-kubernetes-int-or-string"] ? "int-or-string" : (schema.type ?? "any");
}

const text = (value: unknown) => (value === undefined ? "none" : JSON.stringify(value));
