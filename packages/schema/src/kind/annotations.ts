import type { Schema, ValidationRule } from "@konverge/core";
import type { z } from "zod";

/**
 * What a Zod schema cannot say about a field and a CRD can: added with Zod's own `.check()`, so that it stays in its
 * place in the chain and leaves the inferred type alone.
 *
 *     ports: z.array(Port).max(10).check(listMap("name")),
 *     size: z.int().check(cel("self >= oldSelf", "may only grow")),
 */
export interface Annotation<T = unknown> extends z.core.$ZodCheck<T> {
  readonly [annotate]: (schema: Schema) => void;
}

const annotate = Symbol("annotate");

function annotation<T>(apply: (schema: Schema) => void): Annotation<T> {
  return { _zod: { def: { check: "kubernetes" }, check: () => {}, onattach: [] }, [annotate]: apply } as never;
}

/** What an annotation does to the schema it was attached to, or undefined for one of Zod's own checks. */
export function annotationOf(check: object): ((schema: Schema) => void) | undefined {
  return (check as Partial<Annotation>)[annotate];
}

/** A CEL rule: among the `rules` of a version, or on a field with `.check(cel(…))`. */
export interface CelRule extends Annotation, Readonly<ValidationRule> {}

/**
 * A rule in the Common Expression Language that the API server holds every object to. `self` is the value the rule is
 * attached to; a rule that names `oldSelf` applies to updates only.
 */
export function cel(rule: string, message?: string | Omit<ValidationRule, "rule">): CelRule {
  const validation: ValidationRule = { rule, ...(typeof message === "string" ? { message } : message) };
  const check = annotation((schema) => {
    schema["x-kubernetes-validations"] = [...(schema["x-kubernetes-validations"] ?? []), validation];
  });
  return Object.assign(check, validation);
}

/** The plain rule inside a {@link CelRule}. */
export function ruleOf(rule: CelRule): ValidationRule {
  const schema: Schema = {};
  rule[annotate](schema);
  return schema["x-kubernetes-validations"]![0]!;
}

/** A list of objects with unique keys: entries are merged by key, and may be owned by different managers. */
export function listMap<K extends string>(...keys: [K, ...K[]]): Annotation<readonly Record<K, unknown>[]> {
  return annotation((schema) => {
    schema["x-kubernetes-list-type"] = "map";
    schema["x-kubernetes-list-map-keys"] = keys;
  });
}

/** A list of distinct scalars: entries may be owned by different managers. */
export function listSet(): Annotation<readonly (string | number | boolean)[]> {
  return annotation((schema) => {
    schema["x-kubernetes-list-type"] = "set";
  });
}

/** A list or object that has one owner: it is replaced as a whole, never merged. */
export function atomic(): Annotation<object> {
  return annotation((schema) => {
    if (schema.type === "array") schema["x-kubernetes-list-type"] = "atomic";
    else schema["x-kubernetes-map-type"] = "atomic";
  });
}
