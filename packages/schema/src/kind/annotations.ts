import type { Schema, ValidationRule } from "@konverge/core";
import type { z } from "zod";

/**
 * What a CRD can express about a field and Zod cannot. Add it with Zod's `.check()`, which does not change the inferred
 * type.
 *
 *     ports: z.array(Port).max(10).check(listMap("name")),
 *     size: z.int().check(cel("self >= oldSelf", "may only grow")),
 */
export interface SchemaAnnotation<T = unknown> extends z.core.$ZodCheck<T> {
  readonly [annotate]: (schema: Schema) => void;
}

const annotate = Symbol("annotate");

/** Makes an annotation from what it does to the schema it is attached to. Zod itself ignores it. */
export function annotation<T = unknown>(apply: (schema: Schema) => void): SchemaAnnotation<T> {
  return { _zod: { def: { check: "kubernetes" }, check: () => {}, onattach: [] }, [annotate]: apply } as never;
}

/** What an annotation does to the schema it was attached to, or undefined for one of Zod's own checks. */
export function annotationOf(check: object): ((schema: Schema) => void) | undefined {
  return (check as Partial<SchemaAnnotation>)[annotate];
}

/** A CEL rule: among the `rules` of a version, or on a field with `.check(cel(…))`. */
export interface CelRule extends SchemaAnnotation {
  readonly validation: ValidationRule;
}

/**
 * A rule in the Common Expression Language (CEL) that the API server enforces for every object. `self` is the value the
 * rule is attached to; a rule that names `oldSelf` applies to updates only.
 *
 *     cel("self.min <= self.max", "min must not exceed max")
 *     cel("self.size >= oldSelf.size", { message: "may only grow", fieldPath: ".size" })
 */
export function cel(rule: string, message?: string | Omit<ValidationRule, "rule">): CelRule {
  const validation: ValidationRule = { rule, ...(typeof message === "string" ? { message } : message) };
  return Object.assign(
    annotation((schema) => addRule(schema, validation)),
    { validation },
  );
}

/** Adds a rule to those a schema has. */
export function addRule(schema: Schema, rule: ValidationRule): void {
  schema["x-kubernetes-validations"] = [...(schema["x-kubernetes-validations"] ?? []), rule];
}

/** A list of objects with unique keys: entries are merged by key and can have different field managers. */
export function listMap<K extends string>(...keys: [K, ...K[]]): SchemaAnnotation<readonly Record<K, unknown>[]> {
  return annotation((schema) => {
    schema["x-kubernetes-list-type"] = "map";
    schema["x-kubernetes-list-map-keys"] = keys;
  });
}

/** A list of distinct scalars: entries can have different field managers. */
export function listSet(): SchemaAnnotation<readonly (string | number | boolean)[]> {
  return annotation((schema) => {
    schema["x-kubernetes-list-type"] = "set";
  });
}

/** A list or object that has one field manager: it is replaced as a whole, never merged. */
export function atomic(): SchemaAnnotation<object> {
  return annotation((schema) => {
    if (schema.type === "array") schema["x-kubernetes-list-type"] = "atomic";
    else schema["x-kubernetes-map-type"] = "atomic";
  });
}

/** The maximum number of entries of a record, as `.max()` is for a list. */
export function maxProperties(limit: number): SchemaAnnotation<object> {
  return annotation((schema) => {
    schema.maxProperties = limit;
  });
}

/** The minimum number of entries of a record. */
export function minProperties(limit: number): SchemaAnnotation<object> {
  return annotation((schema) => {
    schema.minProperties = limit;
  });
}
