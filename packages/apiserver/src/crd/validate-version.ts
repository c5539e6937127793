import {
  type FieldError,
  fieldInSchema,
  JsonPathError,
  type Schema,
  scalePathError,
  simpleJsonPathError,
} from "@konverge/core";
import type { CrdColumn } from "@konverge/schema";
import { duplicate, invalidValue, type PatternBudget, required, structuralErrors, tooMany } from "@konverge/schema";
import type { CrdVersion } from "./custom-resource-definition.ts";

/** The most fields of a version that selectors may name. */
const MAX_SELECTABLE_FIELDS = 8;
const COLUMN_TYPES = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

/** What schemas are judged by. */
export interface SchemaContext {
  readonly hasStatus: boolean;
  /** It was there before, and its rules may be as expensive as they are. */
  readonly unchanged: boolean;
  /** One for all versions. */
  readonly patterns: PatternBudget;
}

/** What is wrong with a schema. */
export function schemaErrors(
  schema: Schema | undefined,
  path: string,
  { hasStatus, unchanged, patterns }: SchemaContext,
): FieldError[] {
  return schema ? structuralErrors(schema, { path, hasStatus, allowsExpensive: unchanged, patterns }) : [];
}

export function subresourceErrors(subresources: CrdVersion["subresources"], path: string): FieldError[] {
  const scale = subresources?.scale;
  if (!scale) return [];
  return (["specReplicasPath", "statusReplicasPath", "labelSelectorPath"] as const).flatMap((field) => {
    const place = `${path}.scale.${field}`;
    const value = scale[field] ?? "";
    if (value === "") return field === "labelSelectorPath" ? [] : [required(place)];
    const problem = scalePathError(field, value);
    return problem ? [invalidValue(place, value, problem)] : [];
  });
}

export function columnErrors(columns: readonly CrdColumn[] | null | undefined, path: string): FieldError[] {
  return (columns ?? []).flatMap(({ name, type, format = "", jsonPath }, index) => {
    const place = `${path}[${index}]`;
    const types = `must be one of ${COLUMN_TYPES.join(",")}`;
    const problem = jsonPath ? simpleJsonPathError(jsonPath) : undefined;
    return [
      ...(name ? [] : [required(`${place}.name`)]),
      ...(!type ? [required(`${place}.type`, types)] : []),
      ...(type && !COLUMN_TYPES.includes(type) ? [invalidValue(`${place}.type`, type, types)] : []),
      ...(format !== "" && !COLUMN_FORMATS.includes(format)
        ? [invalidValue(`${place}.format`, format, `must be one of ${COLUMN_FORMATS.join(",")}`)]
        : []),
      ...(jsonPath ? [] : [required(`${place}.JSONPath`)]),
      ...(problem ? [invalidValue(`${place}.JSONPath`, jsonPath, problem)] : []),
    ];
  });
}

export function selectableFieldErrors(
  fields: CrdVersion["selectableFields"],
  schema: Schema | undefined,
  path: string,
): FieldError[] {
  if (!fields?.length) return [];
  if (!schema) return [invalidValue(path, "", "may only be set when `version.schema.openAPIV3Schema` is not included")];
  const errors: FieldError[] = [];
  const listed = new Set<string>();
  for (const [index, { jsonPath = "" }] of fields.entries()) {
    const place = `${path}[${index}].jsonPath`;
    if (jsonPath === "") {
      errors.push(required(place));
      continue;
    }
    const found = follow(jsonPath, schema);
    if ("problem" in found) {
      errors.push(invalidValue(place, jsonPath, `is an invalid path: ${found.problem}`));
      continue;
    }
    if (found.names[0] === "metadata")
      errors.push(invalidValue(place, jsonPath, "must not point to fields in metadata"));
    if (!["string", "boolean", "integer"].includes(found.schema?.type ?? "")) {
      const detail =
        "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
      errors.push(invalidValue(place, jsonPath, detail));
    }
    if (listed.has(found.path)) errors.push(duplicate(place, jsonPath));
    listed.add(found.path);
  }
  if (listed.size > MAX_SELECTABLE_FIELDS) errors.push(tooMany(path, listed.size, MAX_SELECTABLE_FIELDS));
  return errors;
}

function follow(path: string, schema: Schema): ReturnType<typeof fieldInSchema> | { problem: string } {
  try {
    return fieldInSchema(path, schema, { brackets: false });
  } catch (error) {
    if (error instanceof JsonPathError) return { problem: error.message };
    throw error;
  }
}

export function deprecationErrors({ deprecated, deprecationWarning: warning }: CrdVersion, path: string): FieldError[] {
  if (warning === undefined) return [];
  const place = `${path}.deprecationWarning`;
  if (!deprecated) return [invalidValue(place, warning, "can only be set for deprecated versions")];
  const problems: string[] = [];
  if (Buffer.byteLength(warning) > 256) problems.push("must be <= 256 characters long");
  if (warning === "") problems.push("must not be an empty string");
  const unprintable = warning.search(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u);
  if (unprintable >= 0) {
    const at = Buffer.byteLength(warning.slice(0, unprintable));
    problems.push(`must only contain printable UTF-8 characters; non-printable character found at index ${at}`);
  }
  return problems.map((problem) => invalidValue(place, warning, problem));
}
