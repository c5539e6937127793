import { type Schema, toGoJson } from "@konverge/core";
import { stringFormat } from "./formats.ts";
import { compilePattern } from "./pattern.ts";

/** What validation needs of a schema node beyond its plain fields, computed once per node. */
export interface SchemaFacts {
  /** The JSON types allowed; none means any. */
  readonly types: readonly string[];
  /** The format, if servers enforce it on this type. */
  readonly format: string | undefined;
  readonly isFormat: ((text: string) => boolean) | undefined;
  /** Whether a text matches the pattern, or undefined without one. */
  readonly matches: ((text: string) => boolean) | undefined;
  /** How many instructions the pattern has: a text takes that many steps for each of its characters, at worst. */
  readonly patternSize: number;
  /** The pattern as messages quote it. */
  readonly patternText: string;
  /** The texts among the enumerated values. */
  readonly enumTexts: ReadonlySet<unknown>;
  /** All enumerated values, as messages list them. */
  readonly enumWords: readonly string[];
}

const known = new WeakMap<Schema, SchemaFacts>();

export function factsOf(schema: Schema): SchemaFacts {
  let facts = known.get(schema);
  if (!facts) {
    facts = compute(schema);
    known.set(schema, facts);
  }
  return facts;
}

function compute(schema: Schema): SchemaFacts {
  const types = schema["x-kubernetes-int-or-string"] ? ["integer", "string"] : schema.type ? [schema.type] : [];
  const format = enforcedFormat(types, schema.format);
  const { matches, text, size } = patternOf(schema.pattern);
  const allowed = schema.enum ?? [];
  return {
    types,
    format,
    isFormat: format === undefined ? undefined : stringFormat(format),
    matches,
    patternText: text,
    patternSize: size,
    enumTexts: new Set(allowed.filter((value) => typeof value === "string")),
    enumWords: allowed.map((value) => (typeof value === "string" ? value : toGoJson(value))),
  };
}

function enforcedFormat(types: readonly string[], format: string | undefined): string | undefined {
  if (format === undefined || format === "") return undefined;
  const type = types.length === 1 ? types[0] : undefined;
  switch (type) {
    case undefined:
    case "string":
      return stringFormat(format) ? format : undefined;
    case "integer":
      return format === "int32" || format === "int64" ? format : undefined;
    case "number":
      return format === "float" || format === "double" ? format : undefined;
    default:
      return undefined;
  }
}

function patternOf(pattern: string | undefined): { matches?: (text: string) => boolean; text: string; size: number } {
  if (pattern === undefined || pattern === "") return { text: "", size: 0 };
  try {
    const compiled = compilePattern(pattern);
    return { matches: (text) => compiled.matcher(text).find(), text: pattern, size: compiled.programSize() };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { matches: () => false, text: `${pattern}, but pattern is invalid: ${why}`, size: 0 };
  }
}
