import type { Schema, ValidationRule } from "@konverge/core";
import { addRule, annotation, type SchemaAnnotation } from "./annotations.ts";

export interface ImmutableOptions {
  /** An optional field can be omitted at first and set once. */
  settable?: boolean;
}

const immutables = new WeakMap<Schema, ImmutableOptions>();

/**
 * A field that cannot be changed, by a transition rule: an optional field can be neither added nor removed later,
 * unless it is `settable`. The rule does not apply if an object around the field is removed and added again: make the
 * outermost object immutable or required.
 */
export function immutable(options: ImmutableOptions = {}): SchemaAnnotation {
  return annotation((schema) => {
    addRule(schema, { rule: "self == oldSelf", message: "field is immutable" });
    immutables.set(schema, options);
  });
}

/** The rule that an object needs because one of its fields, which may be absent, is immutable. */
export function presenceRule(name: string, field: Schema): ValidationRule | undefined {
  const options = immutables.get(field);
  if (!options || field.default !== undefined) return undefined;
  const [now, before] = [`has(self.${celName(name)})`, `has(oldSelf.${celName(name)})`];
  return {
    rule: options.settable ? `!${before} || ${now}` : `${now} == ${before}`,
    message: "field is immutable",
    fieldPath: /^[A-Za-z0-9_-]+$/.test(name) ? `.${name}` : `['${name}']`,
  };
}

const CEL_WORDS = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

/** The name of a field as CEL expressions spell it. */
function celName(name: string): string {
  if (CEL_WORDS.has(name)) return `__${name}__`;
  return name
    .replaceAll("__", "__underscores__")
    .replaceAll(".", "__dot__")
    .replaceAll("-", "__dash__")
    .replaceAll("/", "__slash__");
}
