/** Compiles the expressions of one resource, and checks them against the schema of the object that they fill in. */
import type { Schema } from "@konverge/core";
import type { Expression, ExpressionEnvironment, ExpressionVariable } from "@konverge/schema/cel";
import type { KnownKind } from "../kinds/known-kinds.ts";
import { type CompiledText, EACH, type GraphNode, INSTANCE, type Iterator, type NodeType } from "./graph.ts";
import type { GraphMistake } from "./graph-error.ts";
import type { GraphResource } from "./resource-graph-definition.ts";
import { isStandalone, pathText, splitText, type TemplateText, templateTexts } from "./templates.ts";

/** What a resource is compiled in. */
export interface NodeScope {
  readonly environment: ExpressionEnvironment;
  readonly mistakes: GraphMistake[];
  /** Of the resource. */
  readonly path: string;
  /** Of the instances. */
  readonly isNamespaced: boolean;
}

type Variables = Readonly<Record<string, ExpressionVariable>>;

/** Compiles a resource. */
export function compileNode(resource: GraphResource, type: NodeType, known: KnownKind, scope: NodeScope): GraphNode {
  const { id } = resource;
  const { path, mistakes } = scope;
  const template = (resource.template ?? resource.externalRef ?? {}) as Record<string, unknown>;
  const at = `${path}.${resource.template ? "template" : "externalRef"}`;
  const forEach = iterators(resource, scope);
  const variables: Record<string, ExpressionVariable> = {};
  for (const { name, expression } of forEach) variables[name] = { elementOf: expression };
  // What an external object looks like is not written down here: its reference has a name or a selector.
  const schema = type === "external" || type === "externalCollection" ? undefined : known.schema;
  const texts = compileTexts(template, schema, at, variables, scope);
  checkNamespace(template, known, at, scope);
  checkIdentity(forEach, texts, known, path, mistakes);
  const each = type === "collection" || type === "externalCollection";
  const own: Variables = each ? { [EACH]: { schema: known.schema } } : {};
  const readyWhen = conditions(resource.readyWhen, `${path}.readyWhen`, own, scope).filter(
    ({ text, variables: read }) => {
      const others = [...read].filter((name) => name !== (each ? EACH : id));
      if (others.length === 0) return true;
      const message = `${text} reads ${others.join(", ")}: readyWhen is about the resource itself, as ${each ? EACH : id}`;
      mistakes.push({ path: `${path}.readyWhen`, message });
      return false;
    },
  );
  const includeWhen = conditions(resource.includeWhen, `${path}.includeWhen`, {}, scope);
  const read = [...texts.flatMap(expressionsIn), ...includeWhen, ...forEach.map(({ expression }) => expression)];
  const dependencies = [...new Set(read.flatMap((one) => [...one.variables]))].filter(
    (name) => name !== INSTANCE && !(name in variables),
  );
  const node = { id, type, kind: known.ref, schema: known.schema, template, texts, readyWhen, includeWhen, forEach };
  return { ...node, variables: { ...variables, ...own }, dependencies };
}

/** The expressions in a text. */
export const expressionsIn = ({ parts }: CompiledText): Expression[] =>
  parts.filter((part): part is Expression => typeof part !== "string");

/** Compiles the texts of a template; those whose type does not fit where they stand are mistakes. */
export function compileTexts(
  template: unknown,
  schema: Schema | undefined,
  at: string,
  variables: Variables,
  { environment, mistakes }: Pick<NodeScope, "environment" | "mistakes">,
): CompiledText[] {
  const compiled: CompiledText[] = [];
  for (const text of templateTexts(template)) {
    const path = `${at}.${pathText(text.path)}`;
    if ("problem" in text) {
      mistakes.push({ path, message: text.problem });
      continue;
    }
    const target = schema && schemaAt(schema, text.path);
    if (target === "unknown") mistakes.push({ path, message: "there is no such field" });
    const parts = text.parts.map((part) =>
      typeof part === "string"
        ? part
        : compilePart(part.expression, text, target, path, variables, environment, mistakes),
    );
    if (parts.every((part) => part !== undefined)) compiled.push({ path: text.path, parts });
  }
  return compiled;
}

function compilePart(
  source: string,
  text: TemplateText,
  target: Schema | "unknown" | undefined,
  path: string,
  variables: Variables,
  environment: ExpressionEnvironment,
  mistakes: GraphMistake[],
): Expression | undefined {
  const { expression, error } = environment.compile(source, variables);
  if (!expression) {
    mistakes.push({ path, message: `\${${source}}: ${error}` });
    return undefined;
  }
  // In a text with other parts, the values are joined as texts.
  const expected = isStandalone(text) ? (target === "unknown" ? undefined : target) : TEXT;
  const mismatch = environment.mismatch(expression, expected);
  if (mismatch) mistakes.push({ path, message: `\${${source}} ${mismatch}` });
  return expression;
}

const TEXT: Schema = { type: "string" };

/** The schema of what is at a path; undefined where anything may be, `unknown` where nothing can be. */
function schemaAt(schema: Schema, path: readonly (string | number)[]): Schema | "unknown" | undefined {
  let at: Schema | undefined = schema;
  for (const step of path) {
    if (!at || at["x-kubernetes-preserve-unknown-fields"] || at["x-kubernetes-embedded-resource"]) return undefined;
    if (typeof step === "number") at = at.items;
    else if (at.properties && Object.hasOwn(at.properties, step)) at = at.properties[step];
    else if (typeof at.additionalProperties === "object") at = at.additionalProperties;
    else if (at.additionalProperties || !at.properties || Object.keys(at.properties).length === 0) return undefined;
    else return "unknown";
  }
  return at;
}

function iterators({ forEach = [] }: GraphResource, scope: NodeScope): Iterator[] {
  return forEach.flatMap((dimension, i) =>
    Object.entries(dimension).flatMap(([name, text]) => {
      const path = `${scope.path}.forEach[${i}].${name}`;
      const expression = standalone(text, path, {}, scope);
      if (!expression) return [];
      const mismatch = scope.environment.mismatch(expression, { type: "array" });
      if (mismatch) scope.mistakes.push({ path, message: `${text} ${mismatch}: forEach goes through a list` });
      return { name, expression };
    }),
  );
}

function conditions(texts: readonly string[] = [], path: string, variables: Variables, scope: NodeScope): Expression[] {
  return texts.flatMap((text, i) => {
    const expression = standalone(text, `${path}[${i}]`, variables, scope);
    if (!expression) return [];
    const mismatch = scope.environment.mismatch(expression, { type: "boolean" });
    if (mismatch) scope.mistakes.push({ path: `${path}[${i}]`, message: `${text} ${mismatch}` });
    return expression;
  });
}

/** An expression that must stand alone, as a condition does. */
function standalone(text: string, path: string, variables: Variables, { environment, mistakes }: NodeScope) {
  const parts = splitText(text);
  if (typeof parts === "string" || !isStandalone({ parts })) {
    mistakes.push({ path, message: `${text} must be one expression: \${…}` });
    return undefined;
  }
  const { expression: source } = parts[0] as { expression: string };
  const { expression, error } = environment.compile(source, variables);
  if (!expression) mistakes.push({ path, message: `\${${source}}: ${error}` });
  return expression;
}

function checkNamespace(
  template: Readonly<Record<string, unknown>>,
  { ref }: KnownKind,
  at: string,
  scope: NodeScope,
): void {
  const { namespace } = (template["metadata"] ?? {}) as { namespace?: unknown };
  const path = `${at}.metadata.namespace`;
  if (!ref.namespaced && namespace !== undefined)
    scope.mistakes.push({ path, message: `${ref.kind} is cluster-scoped: remove the namespace` });
  if (ref.namespaced && namespace === undefined && !scope.isNamespaced)
    scope.mistakes.push({ path, message: "is needed, because the instances are cluster-scoped and have none" });
}

/** Objects of a collection need different names: each variable has to be part of the name or the namespace. */
function checkIdentity(
  forEach: readonly Iterator[],
  texts: readonly CompiledText[],
  { ref }: KnownKind,
  path: string,
  mistakes: GraphMistake[],
): void {
  const naming = texts.filter(({ path: [root, field, more] }) => {
    return root === "metadata" && more === undefined && (field === "name" || (field === "namespace" && ref.namespaced));
  });
  const used = new Set(naming.flatMap(expressionsIn).flatMap(({ variables }) => [...variables]));
  const missing = forEach.map(({ name }) => name).filter((name) => !used.has(name));
  if (missing.length === 0) return;
  const message = `metadata.name does not depend on ${missing.join(" and ")}: objects of the collection would have the same name`;
  mistakes.push({ path: `${path}.forEach`, message });
}
