/** The rules of a schema in a tree of the same shape, with only the branches that have any. Made once per schema. */
import type { Schema, ValidationRule } from "@konverge/core";
import { hasRules } from "../../structural/rules.ts";
import { escapeName } from "../types/escape.ts";
import { type DataType, dataTypeOf } from "../types/schema-types.ts";
import { type CompiledRule, compileRules } from "./rule-programs.ts";
import { type Convert, converterOf } from "./schema-values.ts";

/** A node of a schema that has rules, or has them below. */
export class RuleNode {
  readonly schema: Schema;
  readonly rules: readonly ValidationRule[];
  readonly items?: RuleNode;
  readonly values?: RuleNode;
  readonly properties: ReadonlyMap<string, RuleNode>;
  /** Rules inside `allOf`: about the same data. */
  readonly allOf: readonly RuleNode[];
  /** How data becomes `self`. */
  readonly convert: Convert;
  readonly #type: DataType | undefined;
  #compiled: readonly CompiledRule[] | undefined;

  constructor(
    schema: Schema,
    rules: readonly ValidationRule[],
    isResource: boolean,
    type: DataType | undefined,
    branches: Pick<RuleNode, "items" | "values" | "properties" | "allOf">,
  ) {
    this.schema = schema;
    this.rules = rules;
    this.items = branches.items;
    this.values = branches.values;
    this.properties = branches.properties;
    this.allOf = branches.allOf;
    this.convert = converterOf(schema, isResource);
    this.#type = type;
  }

  /** The rules, compiled when they are first needed; undefined when the data has no type that rules could be about. */
  get compiled(): readonly CompiledRule[] | undefined {
    if (!this.#type) return this.rules.length === 0 ? [] : undefined;
    this.#compiled ??= compileRules(this.schema, this.rules, this.#type);
    return this.#compiled;
  }
}

const trees = new WeakMap<Schema, Map<boolean, RuleNode | undefined>>();

/** The tree of a schema's rules, or undefined when it has none. */
export function ruleTree(schema: Schema, isResource: boolean): RuleNode | undefined {
  let known = trees.get(schema);
  if (!known) {
    known = new Map();
    trees.set(schema, known);
  }
  if (!known.has(isResource)) {
    const tree = hasRules(schema) ? grow(schema, schema, isResource, dataTypeOf(schema, isResource)) : undefined;
    known.set(isResource, tree);
  }
  return known.get(isResource);
}

const isEmbedded = (schema: Schema) => schema["x-kubernetes-embedded-resource"] === true;

/** Rules are read from one schema, data from another: inside `allOf` only the outer one says what the data is. */
function grow(from: Schema, schema: Schema, isResource: boolean, type: DataType | undefined): RuleNode | undefined {
  const rules = from["x-kubernetes-validations"] ?? [];
  const part = (inner: Schema, data: Schema) => grow(inner, data, isEmbedded(data), type?.element);
  const items = from.items && schema.items && part(from.items, schema.items);
  const [fromValues, values] = [from.additionalProperties, schema.additionalProperties];
  const valuesNode =
    typeof fromValues === "object" && typeof values === "object" ? part(fromValues, values) : undefined;
  const properties = new Map<string, RuleNode>();
  for (const [name, inner] of Object.entries(from.properties ?? {})) {
    const node = growProperty(name, inner, schema, type);
    if (node) properties.set(name, node);
  }
  const allOf = (from.allOf ?? []).flatMap((inner) => grow(inner, schema, isResource, type) ?? []);
  const isEmpty = rules.length === 0 && !items && !valuesNode && properties.size === 0 && allOf.length === 0;
  if (isEmpty) return undefined;
  return new RuleNode(schema, rules, isResource, type, { items, values: valuesNode, properties, allOf });
}

function growProperty(name: string, from: Schema, parent: Schema, type: DataType | undefined): RuleNode | undefined {
  const { properties } = parent;
  const schema = properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (!schema) return undefined;
  const identifier = escapeName(name);
  // A field whose name cannot be written is invisible from above, but has its own type.
  const fieldType = identifier === undefined ? dataTypeOf(schema, isEmbedded(schema)) : type?.fields?.get(identifier);
  return fieldType && grow(from, schema, isEmbedded(schema), fieldType);
}
