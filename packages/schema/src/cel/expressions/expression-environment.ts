/** Expressions about several objects of any kind, such as `${deployment.status.readyReplicas}` in a template. */
import type { Schema } from "@konverge/core";
import { evaluate, type Program, parseAndCheck, planProgram } from "../evaluation/compile.ts";
import { TYPE_NAMES, templateExpressionFunctions } from "../library/functions.ts";
import type { Declarations } from "../types/declarations.ts";
import { DYN, formatType, isDyn, isOptional, listType, type Type } from "../types/types.ts";
import { isView } from "../values/json-value.ts";
import { NotJson, toJson } from "../values/to-json.ts";
import { Optional, type Value } from "../values/values.ts";
import { isClosed, OpenTypes, openValue } from "./open-values.ts";

/** An expression that has been checked. */
export interface Expression {
  readonly text: string;
  /** The names of the variables that it reads. */
  readonly variables: ReadonlySet<string>;
  readonly program: Program;
  readonly type: Type;
}

/** What an expression may refer to: data of a schema, or of the type of an element of another expression's list. */
export type ExpressionVariable =
  | { readonly schema: Schema; readonly isList?: boolean }
  | { readonly elementOf: Expression }
  | { readonly any: true };

/** What came out of an expression, as JSON; undefined if it was an optional without a value. */
export type ExpressionResult =
  | { readonly value: unknown; readonly error?: undefined }
  | { readonly value?: undefined; readonly error: string };

/** Compiles and evaluates expressions that share variables. */
export class ExpressionEnvironment {
  readonly #variables: ReadonlyMap<string, ExpressionVariable>;
  readonly #types = new OpenTypes();
  readonly #declarations: Declarations;

  constructor(variables: Readonly<Record<string, ExpressionVariable>>) {
    this.#variables = new Map(Object.entries(variables));
    this.#declarations = this.#declare(this.#variables);
  }

  /** Compiles an expression. `more`: further variables that only this one has. */
  compile(
    text: string,
    more?: Readonly<Record<string, ExpressionVariable>>,
  ):
    | { readonly expression: Expression; readonly error?: undefined }
    | { readonly expression?: undefined; readonly error: string } {
    const declarations = more
      ? this.#declare(new Map([...this.#variables, ...Object.entries(more)]))
      : this.#declarations;
    const checked = parseAndCheck(text, declarations);
    if ("issues" in checked) return { error: checked.issues };
    const { program, problem } = planProgram(checked.checked, declarations);
    if (!program) return { error: problem.text };
    return { expression: { text, program, variables: program.variables, type: program.type } };
  }

  /** Evaluates an expression. Variables that are absent from `data` are not known yet: reading one is an error. */
  evaluate(
    { program }: Expression,
    data: Readonly<Record<string, unknown>>,
    more: Readonly<Record<string, ExpressionVariable>> = {},
  ): ExpressionResult {
    const inputs: Record<string, Value> = {};
    for (const name of program.variables) {
      if (!Object.hasOwn(data, name)) return { error: `no such attribute: ${name}` };
      inputs[name] = this.#valueOf(more[name] ?? this.#variables.get(name), data[name]);
    }
    const { value, error } = evaluate(program, inputs);
    if (error !== undefined) return { error };
    try {
      return { value: jsonOf(value!) };
    } catch (cause) {
      if (cause instanceof NotJson) return { error: cause.message };
      throw cause;
    }
  }

  /** Why a result does not fit into data of a schema; undefined if it can. */
  mismatch({ type }: Expression, schema: Schema | undefined): string | undefined {
    if (!schema || schema["x-kubernetes-int-or-string"]) return undefined;
    const given = isOptional(type) ? type.params[0]! : type;
    return this.#fits(given, schema) ? undefined : `returns ${formatType(type)} but expected ${nameOf(schema)}`;
  }

  /** The schema of an expression's result, as far as its type is known. */
  schemaOf({ type }: Expression): Schema {
    return this.#schemaOf(isOptional(type) ? type.params[0]! : type);
  }

  #schemaOf(type: Type): Schema {
    switch (type.kind) {
      case "bool":
        return { type: "boolean" };
      case "int":
      case "uint":
        return { type: "integer" };
      case "double":
        return { type: "number" };
      case "string":
      case "bytes":
      case "timestamp":
      case "duration":
        return { type: "string" };
      case "list":
        return { type: "array", items: this.#schemaOf(type.params[0]!) };
      case "map":
        return { type: "object", additionalProperties: this.#schemaOf(type.params[1]!) };
      case "struct": {
        const schema = this.#types.schemaOf(type);
        return schema ? structural(schema, DEEPEST) : ANYTHING;
      }
      default:
        return ANYTHING;
    }
  }

  #fits(type: Type, schema: Schema): boolean {
    if (isDyn(type) || type.kind === "null" || type.kind === "param") return true;
    switch (schema.type) {
      case "string":
        return ["string", "bytes", "timestamp", "duration"].includes(type.kind);
      case "integer":
        return type.kind === "int" || type.kind === "uint";
      case "number":
        return ["double", "int", "uint"].includes(type.kind);
      case "boolean":
        return type.kind === "bool";
      case "array":
        return type.kind === "list" && (!schema.items || this.#fits(type.params[0]!, schema.items));
      case "object":
        return this.#fitsObject(type, schema);
      default:
        return true;
    }
  }

  #fitsObject(type: Type, schema: Schema): boolean {
    const { additionalProperties, properties } = schema;
    if (type.kind === "map")
      return typeof additionalProperties !== "object" || this.#fits(type.params[1]!, additionalProperties);
    if (type.kind !== "struct") return false;
    const given = this.#types.schemaOf(type);
    if (!given || !isClosed(schema) || given === schema) return true;
    return Object.keys(given.properties ?? {}).every((name) => properties && name in properties);
  }

  #declare(variables: ReadonlyMap<string, ExpressionVariable>): Declarations {
    const types = [...variables].map(([name, variable]) => [name, this.#typeOf(name, variable)] as const);
    return {
      functions: templateExpressionFunctions(),
      typeNames: TYPE_NAMES,
      variables: new Map(types),
      struct: (name) => this.#types.struct(name),
    };
  }

  #typeOf(name: string, variable: ExpressionVariable): Type {
    if ("any" in variable) return DYN;
    if ("elementOf" in variable)
      return variable.elementOf.type.kind === "list" ? variable.elementOf.type.params[0]! : DYN;
    const type = this.#types.typeOf(variable.schema, `object ${name}`);
    return variable.isList ? listType(type) : type;
  }

  #valueOf(variable: ExpressionVariable | undefined, data: unknown): Value {
    if (!variable || "any" in variable) return openValue(undefined, data);
    if ("elementOf" in variable) return openValue(this.#schemaOf(this.#typeOf("", variable)), data);
    return openValue(variable.isList ? { type: "array", items: variable.schema } : variable.schema, data);
  }
}

/** Levels of nested objects that are described where a schema is copied: those of built-in kinds are recursive. */
const DEEPEST = 12;
const ANYTHING: Schema = { "x-kubernetes-preserve-unknown-fields": true };

/** The types of a schema, without what it demands of values. */
function structural(schema: Schema, levels: number): Schema {
  if (levels === 0) return ANYTHING;
  if (schema["x-kubernetes-int-or-string"]) return { "x-kubernetes-int-or-string": true };
  const { type, properties, items, additionalProperties } = schema;
  if (!type) return ANYTHING;
  return {
    type,
    ...(items && { items: structural(items, levels - 1) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, structural(property, levels - 1)]),
      ),
    }),
    ...(typeof additionalProperties === "object" && {
      additionalProperties: structural(additionalProperties, levels - 1),
    }),
    ...(type === "object" && !properties && typeof additionalProperties !== "object" && ANYTHING),
  };
}

function nameOf({ type, properties }: Schema): string {
  return type === "object" && properties
    ? `an object with ${Object.keys(properties).slice(0, 5).join(", ")}`
    : `${type}`;
}

/** A result as JSON. Data that an expression only passes on stays as it is. */
function jsonOf(value: Value): unknown {
  if (value instanceof Optional) return value.value === undefined ? undefined : jsonOf(value.value);
  return isView(value) ? value.raw : toJson(value, (int) => int);
}
