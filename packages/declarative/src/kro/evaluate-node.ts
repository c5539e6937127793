/** Evaluates the expressions of one node for one instance. Pure: everything it reads is in its arguments. */
import { isObject } from "@konverge/core";
import type { Expression } from "@konverge/schema/cel";
import type { CompiledText, Graph, GraphNode } from "./graph.ts";
import { filled, isStandalone, pathKey } from "./templates.ts";

/** What expressions see, by name. */
export type Data = Readonly<Record<string, unknown>>;

/** An expression reads what is not there yet, such as a status that is not reported: it is evaluated again. */
export class DataPending extends Error {
  override readonly name = "DataPending";
}

/** The most objects of one collection. */
const LARGEST_COLLECTION = 1000;

/** The errors that kro treats as missing data. Other errors are mistakes, not transient. */
const PENDING = /no such key|no such field|no such attribute|index out of bounds/;

/** The value of an expression. */
export function evaluated(graph: Graph, node: GraphNode | undefined, expression: Expression, data: Data): unknown {
  const { value, error } = graph.environment.evaluate(expression, data, node?.variables);
  if (error === undefined) return value;
  const message = `\${${expression.text}}: ${error}`;
  throw PENDING.test(error) ? new DataPending(message) : new Error(message);
}

/** Whether all conditions hold. One that is null, or without a value, does not. */
export function allHold(
  graph: Graph,
  node: GraphNode,
  conditions: readonly Expression[],
  data: Data,
): Expression | undefined {
  return conditions.find((condition) => evaluated(graph, node, condition, data) !== true);
}

/** The template of a node with its values: one object, or those of a collection in the order of its variables. */
export function objectsOf(graph: Graph, node: GraphNode, data: Data): Record<string, unknown>[] {
  const combinations = node.type === "collection" ? combinationsOf(graph, node, data) : [{}];
  return combinations.map((variables) => {
    const known = { ...data, ...variables };
    const values = new Map(node.texts.map((text) => [pathKey(text.path), textValue(graph, node, text, known)]));
    const object = filled(node.template, values);
    if (!isObject(object)) throw new Error("the template is not an object");
    return object;
  });
}

/** The value of a text: that of its expression, or all of its parts as one text. */
export function textValue(graph: Graph, node: GraphNode | undefined, text: CompiledText, data: Data): unknown {
  const parts = text.parts.map((part) => (typeof part === "string" ? part : evaluated(graph, node, part, data)));
  if (isStandalone(text as never)) return parts[0];
  const wrong = parts.findIndex((part) => typeof part !== "string");
  if (wrong < 0) return parts.join("");
  const { text: source } = text.parts[wrong] as Expression;
  throw new Error(
    `\${${source}} is ${JSON.stringify(parts[wrong])}: a part of a text must be a string, such as string(${source})`,
  );
}

/** All combinations of the variables of a collection; the last one changes fastest. */
function combinationsOf(graph: Graph, node: GraphNode, data: Data): Record<string, unknown>[] {
  let combinations: Record<string, unknown>[] = [{}];
  for (const { name, expression } of node.forEach) {
    const list = evaluated(graph, undefined, expression, data);
    if (!Array.isArray(list)) throw new Error(`\${${expression.text}} is not a list`);
    combinations = combinations.flatMap((others) => list.map((value) => ({ ...others, [name]: value })));
    if (combinations.length > LARGEST_COLLECTION)
      throw new Error(`the collection has more than ${LARGEST_COLLECTION} objects: make the lists of forEach shorter`);
  }
  return combinations;
}
