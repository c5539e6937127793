import { isObject, type Schema } from "@konverge/core";
import { propertySchema, valuesSchema } from "./schema-fields.ts";

/**
 * Removes, in place, the fields that are not in the schema, and returns their paths (`spec.containers[0].imag`), in
 * order. At the root and in embedded resources apiVersion, kind and metadata stay.
 */
export function pruneUnknownFields(schema: Schema, value: unknown): string[] {
  const dropped: string[] = [];
  pruneValue({ schema, isRoot: true }, value, "", dropped);
  return dropped.sort();
}

/** Removes unknown fields from a default, which has no metadata unless the schema says that it is a resource. */
export function pruneDefault(schema: Schema, value: unknown): void {
  pruneValue({ schema }, value, "", []);
}

interface Place {
  schema: Schema | undefined;
  isRoot?: boolean;
  /** The list this value is in preserves unknown fields: so do its items, whatever their own schema says. */
  isKept?: boolean;
}

function pruneValue({ schema, isRoot, isKept }: Place, value: unknown, path: string, dropped: string[]): void {
  const keepsUnknown = isKept || schema?.["x-kubernetes-preserve-unknown-fields"] === true;
  if (keepsUnknown && !schema) return;
  if (Array.isArray(value)) {
    const place: Place = { schema: schema?.items, isKept: keepsUnknown };
    value.forEach((item, index) => {
      pruneValue(place, item, `${path}[${index}]`, dropped);
    });
  } else if (isObject(value)) {
    const isResource = isRoot || schema?.["x-kubernetes-embedded-resource"] === true;
    for (const name of Object.keys(value)) {
      if (isResource && META_FIELDS.has(name)) continue;
      const fieldPath = path === "" ? name : `${path}.${name}`;
      const own = schema && propertySchema(schema, name);
      if (own) pruneValue({ schema: own }, value[name], fieldPath, dropped);
      else if (schema?.additionalProperties !== undefined) {
        pruneValue({ schema: valuesSchema(schema) }, value[name], fieldPath, dropped);
      } else if (!keepsUnknown) {
        dropped.push(fieldPath);
        delete value[name];
      }
    }
  }
}

const META_FIELDS = new Set(["apiVersion", "kind", "metadata"]);
