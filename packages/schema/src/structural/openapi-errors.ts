import {
  append,
  type FieldError,
  fieldInSchema,
  JsonPathError,
  type Schema,
  type ValidationRule,
} from "@konverge/core";
import { forbidden, invalidValue, notSupported, required } from "./field-errors.ts";
import { hasDefault, itemsOf, propertiesOf, type RawSchema, unsupportedKeyword } from "./raw-schema.ts";

interface Context {
  isRoot?: boolean;
  /** Within apiVersion, kind or metadata of a resource. */
  isInMeta?: boolean;
  /** Why defaults are not allowed here. */
  noDefaults?: string;
}

/** Which keywords of OpenAPI a CRD may use, and how they may be combined. */
export function openApiErrors(schema: RawSchema, path: string, context: Context = { isRoot: true }): FieldError[] {
  const errors = keywordErrors(schema, path, context);
  const { isInMeta, noDefaults } = context;
  const inner: Context = { isInMeta, noDefaults };
  const visit = (part: RawSchema, name: string, next: Context = inner) => {
    append(errors, openApiErrors(part, `${path}.${name}`, next));
  };
  const { additionalProperties } = schema;
  if (schema.uniqueItems) {
    const detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
    errors.push(forbidden(`${path}.uniqueItems`, detail));
  }
  if (additionalProperties !== undefined) {
    if (propertiesOf(schema).length > 0 && additionalProperties !== true) {
      const detail = "additionalProperties and properties are mutual exclusive";
      errors.push(forbidden(`${path}.additionalProperties`, detail));
    }
    if (typeof additionalProperties === "object") {
      const reason = "inside additionalProperties applying to object metadata";
      visit(additionalProperties, "additionalProperties", isInMeta ? { isInMeta, noDefaults: reason } : inner);
    }
  }
  const isResource = context.isRoot || schema["x-kubernetes-embedded-resource"] === true;
  for (const [name, property] of propertiesOf(schema)) {
    const isMeta = isResource && (name === "metadata" || name === "kind" || name === "apiVersion");
    const reason = isMeta && context.isRoot ? `in top-level ${name}` : noDefaults;
    visit(property, `properties[${name}]`, { isInMeta: isInMeta || isMeta, noDefaults: reason });
  }
  if (schema.not) visit(schema.not, "not");
  for (const junctor of ["allOf", "oneOf", "anyOf"] as const) {
    schema[junctor]?.forEach((part, index) => void visit(part, `${junctor}[${index}]`));
  }
  for (const [name, definition] of Object.entries(schema.definitions ?? {})) visit(definition, `definitions[${name}]`);
  const items = itemsOf(schema);
  if (items) visit(items, "items");
  if (Array.isArray(schema.items)) schema.items.forEach((item, index) => void visit(item, `items[${index}]`));
  append(errors, extensionErrors(schema, path));
  append(errors, mapListErrors(schema, path));
  schema["x-kubernetes-validations"]?.forEach((rule, index) => {
    append(errors, ruleErrors(rule, schema, `${path}.x-kubernetes-validations[${index}]`));
  });
  return errors;
}

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];

function keywordErrors(schema: RawSchema, path: string, { isInMeta, noDefaults }: Context): FieldError[] {
  const errors: FieldError[] = [];
  const refuse = (keyword: string, detail: string) => void errors.push(forbidden(`${path}.${keyword}`, detail));
  const { type = "" } = schema;
  if (type !== "" && !TYPES.includes(type)) errors.push(notSupported(`${path}.type`, type, TYPES));
  if (hasDefault(schema) && noDefaults !== undefined) refuse("default", `must not be set ${noDefaults}`);
  if (schema.id) refuse("id", "id is not supported");
  if (schema.additionalItems !== undefined) refuse("additionalItems", "additionalItems is not supported");
  if (Object.keys(schema.patternProperties ?? {}).length > 0) {
    refuse("patternProperties", "patternProperties is not supported");
  }
  if (Object.keys(schema.definitions ?? {}).length > 0) refuse("definitions", "definitions is not supported");
  if (schema.dependencies !== undefined) refuse("dependencies", "dependencies is not supported");
  if (schema.$ref !== undefined) refuse("$ref", "$ref is not supported");
  if (type === "null") refuse("type", "type cannot be set to null, use nullable as an alternative");
  if (Array.isArray(schema.items)) refuse("items", "items must be a schema object and not an array");
  if (isInMeta && schema["x-kubernetes-embedded-resource"]) {
    refuse("x-kubernetes-embedded-resource", "must not be used inside of resource meta");
  }
  return errors;
}

function extensionErrors(schema: RawSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { type = "" } = schema;
  const mustBe = (expected: string, keyword: string) => {
    const detail = `must be ${expected} if ${keyword} is specified`;
    errors.push(type === "" ? required(`${path}.type`, detail) : invalidValue(`${path}.type`, type, detail));
  };
  const preserve = schema["x-kubernetes-preserve-unknown-fields"];
  if (preserve === false) {
    errors.push(invalidValue(`${path}.x-kubernetes-preserve-unknown-fields`, preserve, "must be true or undefined"));
  }
  const mapType = schema["x-kubernetes-map-type"];
  if (mapType !== undefined) {
    if (type !== "object") mustBe("object", "x-kubernetes-map-type");
    if (!["atomic", "granular"].includes(mapType)) {
      errors.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, ["atomic", "granular"]));
    }
  }
  const listType = schema["x-kubernetes-list-type"];
  if (listType !== undefined) {
    if (type !== "array") mustBe("array", "x-kubernetes-list-type");
    else if (listType === "set") append(errors, setItemErrors(itemsOf(schema), `${path}.items`));
    if (!["atomic", "set", "map"].includes(listType)) {
      errors.push(notSupported(`${path}.x-kubernetes-list-type`, listType, ["atomic", "set", "map"]));
    }
  }
  return errors;
}

function setItemErrors(items: RawSchema | undefined, path: string): FieldError[] {
  const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
  const listType = items?.["x-kubernetes-list-type"];
  if (items?.type === "array" && listType !== undefined && listType !== "atomic") {
    return [invalidValue(`${path}.x-kubernetes-list-type`, listType, detail)];
  }
  if (items?.type === "object" && items["x-kubernetes-map-type"] !== "atomic") {
    return [invalidValue(`${path}.x-kubernetes-map-type`, listType ?? null, detail)];
  }
  return [];
}

function mapListErrors(schema: RawSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const listType = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const items = itemsOf(schema);
  const typePath = `${path}.x-kubernetes-list-type`;
  const keysPath = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length > 0 && listType !== "map") {
    const detail = "must be map if x-kubernetes-list-map-keys is non-empty";
    errors.push(listType === undefined ? required(typePath, detail) : invalidValue(typePath, listType, detail));
  }
  if (listType === "map") {
    if (keys.length === 0) errors.push(required(keysPath, "must not be empty if x-kubernetes-list-type is map"));
    if (schema.items === undefined) {
      errors.push(required(`${path}.items`, "must have a schema if x-kubernetes-list-type is map"));
    } else if (!items) {
      const detail = "must only have a single schema if x-kubernetes-list-type is map";
      errors.push(invalidValue(`${path}.items`, schema.items, detail));
    } else if (items.type !== "object") {
      const detail = "must be object if parent array's x-kubernetes-list-type is map";
      errors.push(invalidValue(`${path}.items.type`, items.type ?? "", detail));
    } else append(errors, mapKeyErrors(keys, items, path));
  }
  if ((listType === "set" || listType === "map") && items) {
    if (items.nullable) {
      errors.push(forbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`));
    }
    if (listType === "map") append(errors, keyPresenceErrors(keys, items, path));
  }
  return errors;
}

function mapKeyErrors(keys: readonly string[], items: RawSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const keysPath = `${path}.x-kubernetes-list-map-keys`;
  const known = new Set<string>();
  keys.forEach((key) => {
    const property = items.properties?.[key];
    if (property?.type === "array" || property?.type === "object") {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      errors.push(invalidValue(`${path}.items.properties[${key}].type`, items.type, detail));
    } else if (!property) errors.push(invalidValue(keysPath, keys, "entries must all be names of item properties"));
    if (known.has(key)) errors.push(invalidValue(keysPath, keys, "must not contain duplicate entries"));
    known.add(key);
  });
  return errors;
}

function keyPresenceErrors(keys: readonly string[], items: RawSchema, path: string): FieldError[] {
  const requiredNames = new Set(items.required);
  return keys.flatMap((key) => {
    const property = items.properties?.[key];
    if (!property) return [];
    const at = `${path}.items.properties[${key}]`;
    const because = "this property is in x-kubernetes-list-map-keys, so it";
    const errors: FieldError[] = [];
    if (!requiredNames.has(key) && !hasDefault(property)) {
      errors.push(required(`${at}.default`, `${because} must have a default or be a required property`));
    }
    if (property.nullable) errors.push(forbidden(`${at}.nullable`, `${because} cannot be nullable`));
    return errors;
  });
}

const REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/** What is wrong with the form of a CEL rule, before it is compiled. */
function ruleErrors(rule: ValidationRule, schema: RawSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { message = "", messageExpression = "", fieldPath = "", reason } = rule;
  const hasLineBreak = (text: string) => /[\n\r]/.test(text);
  if (rule.rule.trim() === "") errors.push(required(`${path}.rule`, "rule is not specified"));
  else if (message !== "" && message.trim() === "") {
    errors.push(invalidValue(`${path}.message`, message, "must be non-empty if specified"));
  } else if (hasLineBreak(message.trim())) {
    errors.push(invalidValue(`${path}.message`, message, "must not contain line breaks"));
  } else if (hasLineBreak(rule.rule.trim()) && message.trim() === "") {
    errors.push(required(`${path}.message`, "message must be specified if rule contains line breaks"));
  }
  if (messageExpression !== "" && messageExpression.trim() === "") {
    errors.push(required(`${path}.messageExpression`, "messageExpression must be non-empty if specified"));
  }
  if (reason !== undefined && !REASONS.includes(reason)) errors.push(notSupported(`${path}.reason`, reason, REASONS));
  if (fieldPath !== "" && fieldPath.trim() === "") {
    errors.push(invalidValue(`${path}.fieldPath`, fieldPath, "must be non-empty if specified"));
  }
  if (hasLineBreak(fieldPath)) {
    errors.push(invalidValue(`${path}.fieldPath`, fieldPath, "must not contain line breaks"));
  }
  if (fieldPath !== "" && !leadsSomewhere(schema, fieldPath)) {
    errors.push(invalidValue(`${path}.fieldPath`, fieldPath, "must be a valid path"));
  }
  return errors;
}

function leadsSomewhere(schema: RawSchema, fieldPath: string): boolean {
  if (unsupportedKeyword(schema) !== undefined) return true;
  try {
    fieldInSchema(fieldPath, schema as Schema);
    return true;
  } catch (error) {
    if (error instanceof JsonPathError) return false;
    throw error;
  }
}
