import {
  append,
  dns1035LabelErrors,
  type FieldError,
  isObject,
  type JsonObject,
  pathSegmentErrors,
  type Schema,
} from "@konverge/core";
import { invalidValue, required } from "./field-errors.ts";
import { decodeMetadata, MetadataError } from "./metadata-shape.ts";
import { objectMetaErrors } from "./object-meta.ts";
import { propertySchema, valuesSchema } from "./schema-fields.ts";

/** Calls `each` for the embedded resources in a value, from the outside in; `path` is that of the resource. */
function forEachEmbedded(
  schema: Schema,
  value: unknown,
  path: string,
  each: (object: JsonObject, path: string) => void,
): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items) value.forEach((item, index) => void forEachEmbedded(items, item, `${path}[${index}]`, each));
  } else if (isObject(value)) {
    if (schema["x-kubernetes-embedded-resource"] === true) each(value, path);
    const values = valuesSchema(schema);
    for (const name of Object.keys(value)) {
      const own = propertySchema(schema, name);
      if (own) forEachEmbedded(own, value[name], join(path, name), each);
      else if (values) forEachEmbedded(values, value[name], `${path}[${name}]`, each);
    }
  }
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/**
 * Decodes the metadata of embedded resources, in place, and returns the paths of the fields it dropped; or the first
 * thing that cannot be decoded, for which servers refuse the whole request.
 */
export function coerceEmbedded(schema: Schema, value: unknown): { dropped: string[] } | { error: FieldError } {
  const dropped: string[] = [];
  let error: FieldError | undefined;
  forEachEmbedded(schema, value, "", (object, path) => {
    for (const name of ["apiVersion", "kind"]) {
      if (Object.hasOwn(object, name) && typeof object[name] !== "string") {
        error ??= invalidValue(join(path, name), object[name], "must be a string");
      }
    }
    if (!Object.hasOwn(object, "metadata") || error) return;
    try {
      const { metadata, unknown } = decodeMetadata(object["metadata"]);
      object["metadata"] = metadata;
      append(
        dropped,
        unknown.map((field) => `${join(path, "metadata")}.${field}`),
      );
    } catch (cause) {
      if (!(cause instanceof MetadataError)) throw cause;
      error = invalidValue(join(path, "metadata"), object["metadata"], cause.message);
    }
  });
  return error ? { error } : { dropped: dropped.sort() };
}

/** Checks that embedded resources say what they are, and that their metadata is valid. */
export function embeddedErrors(schema: Schema, value: unknown, path = ""): FieldError[] {
  const errors: FieldError[] = [];
  forEachEmbedded(schema, value, path, (object, at) => append(errors, resourceErrors(object, at)));
  return errors;
}

function resourceErrors(object: JsonObject, path: string): FieldError[] {
  const at = (name: string) => join(path, name);
  const errors: FieldError[] = [];
  for (const name of ["apiVersion", "kind"]) {
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    if (value === undefined) errors.push(required(at(name)));
    else if (typeof value !== "string") errors.push(invalidValue(at(name), value, "must be a string"));
    else if (value === "") errors.push(invalidValue(at(name), value, "must not be empty"));
    else if (name === "apiVersion") {
      if (value.split("/").length > 2) {
        errors.push(invalidValue(at(name), value, `unexpected GroupVersion string: ${value}`));
      }
    } else {
      const problems = dns1035LabelErrors(value.toLowerCase());
      if (problems.length > 0) {
        const detail = `may have mixed case, but should otherwise match: ${problems.join(",")}`;
        errors.push(invalidValue(at(name), value, detail));
      }
    }
  }
  if (Object.hasOwn(object, "metadata")) append(errors, metadataErrors(object["metadata"], at("metadata")));
  return errors;
}

function metadataErrors(value: unknown, path: string): FieldError[] {
  try {
    const metadata = decodeMetadata(value).metadata as Parameters<typeof objectMetaErrors>[0];
    // A template can omit its name.
    const named = { ...metadata, name: metadata.name ?? "fakename" };
    const isNamespaced = (metadata.namespace ?? "") !== "";
    return objectMetaErrors(named, { namespaced: isNamespaced, nameErrors: pathSegmentErrors }, path);
  } catch (cause) {
    if (!(cause instanceof MetadataError)) throw cause;
    return [invalidValue(path, value, cause.message)];
  }
}
