import { deepEqual, type FieldError } from "@konverge/core";
import { forbidden, invalidValue, required } from "./field-errors.ts";
import { compilePattern, PatternBudget } from "./pattern.ts";
import { hasDefault, itemsOf, propertiesOf, type RawSchema } from "./raw-schema.ts";

/**
 * The rules that make an OpenAPI schema structural: every field, item and value has its own type outside of allOf,
 * anyOf, oneOf and not, and below these nothing but conditions on values may stand. Errors come sorted.
 */
export function structuralInvariantErrors(
  schema: RawSchema,
  path: string,
  patterns: PatternBudget = new PatternBudget(),
): FieldError[] {
  const errors: FieldError[] = [];
  checkNode(schema, "root", path, { errors, patterns });
  checkCompleteness(schema, schema, path, path, errors);
  const text = ({ field, message }: FieldError) => `${field}: ${message}`;
  return errors.sort((a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0));
}

type Level = "root" | "item" | "field";

const TYPE_MISSING: Record<Level, string> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};

/** What checks write down, and what they may use up. */
interface Report {
  readonly errors: FieldError[];
  readonly patterns: PatternBudget;
}

function checkNode(schema: RawSchema, level: Level, path: string, report: Report): void {
  const { errors } = report;
  const { type = "", additionalProperties } = schema;
  const items = itemsOf(schema);
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  const isPreserving = schema["x-kubernetes-preserve-unknown-fields"] === true;
  const isIntOrString = schema["x-kubernetes-int-or-string"] === true;

  if (type === "array" && !items) errors.push(required(`${path}.items`, "must be specified"));
  if (items) checkNode(items, "item", `${path}.items`, report);
  for (const [name, property] of propertiesOf(schema))
    checkNode(property, "field", `${path}.properties[${name}]`, report);
  if (additionalProperties !== undefined) {
    const at = `${path}.additionalProperties`;
    if (level === "root") errors.push(forbidden(at, "must not be used at the root"));
    if (typeof additionalProperties === "object") checkNode(additionalProperties, "field", at, report);
    if (isEmbedded) errors.push(forbidden(at, "must not be used if x-kubernetes-embedded-resource is set"));
  }
  if (isIntOrString) {
    const detail = "must be false if x-kubernetes-int-or-string is true";
    if (isPreserving) errors.push(invalidValue(`${path}.x-kubernetes-preserve-unknown-fields`, true, detail));
    if (isEmbedded) errors.push(invalidValue(`${path}.x-kubernetes-embedded-resource`, true, detail));
  }
  checkConditions(schema, path, report, {
    skipAnyOf: isIntOrStringForm(schema.anyOf),
    skipFirstAllOf: isIntOrStringForm(schema.allOf?.[0]?.anyOf),
  });

  const typePath = `${path}.type`;
  if (isEmbedded && type !== "object") {
    const detail = "must be object if x-kubernetes-embedded-resource is true";
    errors.push(type === "" ? required(typePath, detail) : invalidValue(typePath, type, detail));
  } else if (type === "" && !isIntOrString && !isPreserving) errors.push(required(typePath, TYPE_MISSING[level]));
  if (level === "root" && type !== "" && type !== "object") {
    errors.push(invalidValue(typePath, type, "must be object at the root"));
  }
  checkMeta(schema, level, path, errors);
  if (isEmbedded && !isPreserving && propertiesOf(schema).length === 0) {
    const detail =
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
    errors.push(required(`${path}.properties`, detail));
  }
}

/** What a schema may say about apiVersion, kind and metadata, at the root and in embedded resources. */
function checkMeta(schema: RawSchema, level: Level, path: string, errors: FieldError[]): void {
  const isResource = level === "root" || schema["x-kubernetes-embedded-resource"] === true;
  for (const [name, property] of propertiesOf(schema)) {
    const at = `${path}.properties[${name}]`;
    const { type = "", default: _, properties, ...rest } = property;
    if ((name === "kind" || name === "apiVersion") && isResource && type !== "string") {
      errors.push(invalidValue(`${at}.type`, type, "must be string"));
    }
    if (name !== "metadata") continue;
    if (isResource && type !== "object") errors.push(invalidValue(`${at}.type`, type, "must be object"));
    const others = Object.keys(properties ?? {}).filter((field) => field !== "name" && field !== "generateName");
    if (level === "root" && (others.length > 0 || Object.values(rest).some((value) => value !== undefined))) {
      const detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
      errors.push(forbidden(at, detail));
    }
  }
}

const INT_OR_STRING = [{ type: "integer" }, { type: "string" }];

function isIntOrStringForm(anyOf: readonly RawSchema[] | undefined): boolean {
  return anyOf !== undefined && deepEqual(anyOf, INT_OR_STRING);
}

/** The conditions on values in a schema, and those below its junctors. */
function checkConditions(
  schema: RawSchema,
  path: string,
  report: Report,
  intOrString: { skipAnyOf?: boolean; skipFirstAllOf?: boolean } = {},
): void {
  if (!intOrString.skipAnyOf) {
    schema.anyOf?.forEach((part, index) => void checkNested(part, `${path}.anyOf[${index}]`, report));
  }
  schema.allOf?.forEach((part, index) => {
    checkNested(part, `${path}.allOf[${index}]`, report, intOrString.skipFirstAllOf && index === 0);
  });
  schema.oneOf?.forEach((part, index) => void checkNested(part, `${path}.oneOf[${index}]`, report));
  if (schema.not) checkNested(schema.not, `${path}.not`, report);
  if (schema.pattern) {
    const problem = patternProblem(schema.pattern, report.patterns);
    if (problem) {
      const detail = `must be a valid regular expression, but isn't: ${problem}`;
      report.errors.push(invalidValue(`${path}.pattern`, schema.pattern, detail));
    }
  }
}

function patternProblem(pattern: string, patterns: PatternBudget): string | undefined {
  try {
    compilePattern(pattern, patterns);
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return message.endsWith("at end of expression") ? `${message}: \`\`` : message;
  }
}

/** What may not stand below a junctor, and in which words. */
const FORBIDDEN_BELOW: [keyof RawSchema, (schema: RawSchema) => boolean, string][] = [
  ["type", ({ type }) => (type ?? "") !== "", "must be empty to be structural"],
  ["additionalProperties", ({ additionalProperties: values }) => !!values, "must be undefined to be structural"],
  ["default", hasDefault, "must be undefined to be structural"],
  ["title", ({ title }) => (title ?? "") !== "", "must be empty to be structural"],
  ["description", ({ description }) => (description ?? "") !== "", "must be empty to be structural"],
  ["nullable", ({ nullable }) => nullable === true, "must be false to be structural"],
  ...(["preserve-unknown-fields", "embedded-resource", "int-or-string"] as const).map(
    (name): [keyof RawSchema, (schema: RawSchema) => boolean, string] => [
      `x-kubernetes-${name}`,
      (schema) => schema[`x-kubernetes-${name}`] === true,
      "must be false to be structural",
    ],
  ),
  [
    "x-kubernetes-list-map-keys",
    (schema) => (schema["x-kubernetes-list-map-keys"]?.length ?? 0) > 0,
    "must be empty to be structural",
  ],
  [
    "x-kubernetes-list-type",
    (schema) => schema["x-kubernetes-list-type"] !== undefined,
    "must be undefined to be structural",
  ],
  [
    "x-kubernetes-map-type",
    (schema) => schema["x-kubernetes-map-type"] !== undefined,
    "must be undefined to be structural",
  ],
  [
    "x-kubernetes-validations",
    (schema) => (schema["x-kubernetes-validations"]?.length ?? 0) > 0,
    "must be empty to be structural",
  ],
];

function checkNested(schema: RawSchema, path: string, report: Report, skipAnyOf = false): void {
  const { errors } = report;
  checkConditions(schema, path, report, { skipAnyOf });
  const items = itemsOf(schema);
  if (items) checkNested(items, `${path}.items`, report);
  for (const [name, property] of propertiesOf(schema)) checkNested(property, `${path}.properties[${name}]`, report);
  for (const [keyword, isSet, detail] of FORBIDDEN_BELOW) {
    if (isSet(schema)) errors.push(forbidden(`${path}.${keyword}`, detail));
  }
  if (schema.properties?.["metadata"]) {
    errors.push(forbidden(`${path}.properties[metadata]`, "must not be specified in a nested context"));
  }
}

/** Checks that whatever junctors speak of is also declared outside of them. */
function checkCompleteness(
  condition: RawSchema,
  schema: RawSchema | undefined,
  schemaPath: string,
  path: string,
  errors: FieldError[],
): void {
  if (!schema) {
    errors.push(required(schemaPath, `because it is defined in ${path}`));
    return;
  }
  if (condition !== schema) {
    const items = itemsOf(condition);
    if (items) checkCompleteness(items, itemsOf(schema), `${schemaPath}.items`, `${path}.items`, errors);
    for (const [name, property] of propertiesOf(condition)) {
      const key = `properties[${name}]`;
      const declared =
        schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
      checkCompleteness(property, declared, `${schemaPath}.${key}`, `${path}.${key}`, errors);
    }
  }
  const parts: [RawSchema, string][] = [
    ...(condition.not ? [[condition.not, "not"] as [RawSchema, string]] : []),
    ...(["allOf", "anyOf", "oneOf"] as const).flatMap((junctor) =>
      (condition[junctor] ?? []).map((part, index): [RawSchema, string] => [part, `${junctor}[${index}]`]),
    ),
  ];
  for (const [part, name] of parts) checkCompleteness(part, schema, schemaPath, `${path}.${name}`, errors);
}
