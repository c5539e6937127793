/** A ResourceGraphDefinition that has been checked: its resources in the order of their dependencies. */
import type { KindRef, KubeObject, Schema } from "@konverge/core";
import type { CustomResourceDefinition } from "@konverge/kinds";
import type { Expression, ExpressionEnvironment, ExpressionVariable } from "@konverge/schema/cel";

/** The name under which expressions see the instance. */
export const INSTANCE = "schema";
/** The name under which `readyWhen` of a collection sees one of its objects. */
export const EACH = "each";

/** A text of a template whose expressions have been compiled. */
export interface CompiledText {
  readonly path: readonly (string | number)[];
  readonly parts: readonly (string | Expression)[];
}

/** A variable of `forEach`. */
export interface Iterator {
  readonly name: string;
  readonly expression: Expression;
}

/** Where the objects of a node come from. */
export type NodeType = "resource" | "collection" | "external" | "externalCollection";

/** A resource of a graph. */
export interface GraphNode {
  readonly id: string;
  readonly type: NodeType;
  readonly kind: KindRef<KubeObject>;
  readonly schema: Schema;
  readonly template: Readonly<Record<string, unknown>>;
  readonly texts: readonly CompiledText[];
  readonly readyWhen: readonly Expression[];
  readonly includeWhen: readonly Expression[];
  readonly forEach: readonly Iterator[];
  /** Its variables of `forEach`, and `each`. */
  readonly variables: Readonly<Record<string, ExpressionVariable>>;
  /** The ids of the nodes that it reads. */
  readonly dependencies: readonly string[];
}

/** A graph that can be reconciled. */
export interface Graph {
  /** The name of its definition. */
  readonly name: string;
  /** In an order in which each comes after those that it reads. */
  readonly nodes: readonly GraphNode[];
  /** The definition of its instances' kind. */
  readonly definition: CustomResourceDefinition;
  readonly kind: KindRef<KubeObject>;
  readonly environment: ExpressionEnvironment;
  readonly status: Readonly<Record<string, unknown>>;
  readonly statusTexts: readonly CompiledText[];
  /** Changes with everything that the graph was compiled from. */
  readonly revision: string;
}

/** Whether a node has several objects. */
export const isList = ({ type }: Pick<GraphNode, "type">) => type === "collection" || type === "externalCollection";
/** Whether the objects of a node are made by someone else. */
export const isExternal = ({ type }: Pick<GraphNode, "type">) => type === "external" || type === "externalCollection";
