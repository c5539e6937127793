/**
 * Decides what an instance of a graph consists of, from what is there.
 *
 * Each node is looked at after those that it reads. It is left out if a condition of `includeWhen` does not hold, or if a node that
 * it reads is left out. It waits while a node that it reads is not ready, or an expression reads what is not there yet; what there is of it
 * then stays as it is. Pure: what exists is given by {@link Existing}.
 */
import { isObject, type KubeObject, type LabelSelector, matchesLabels, requirementsOf } from "@konverge/core";
import { allHold, type Data, DataPending, evaluated, objectsOf, textValue } from "./evaluate-node.ts";
import { EACH, type Graph, type GraphNode, INSTANCE, isList } from "./graph.ts";
import { INDEX_LABEL, itemLabels, nodeLabels } from "./labels.ts";
import { filled, pathKey } from "./templates.ts";

/** What there is. */
export interface Existing {
  /** The objects of a node that this instance has. */
  own(node: GraphNode): readonly KubeObject[];
  /** An object that someone else made. */
  external(node: GraphNode, name: string, namespace: string | undefined): KubeObject | undefined;
  /** All objects of the node's kind, in a namespace or in all. */
  externals(node: GraphNode, namespace: string | undefined): readonly KubeObject[];
}

/** What becomes of a node. */
export interface NodeResult {
  readonly node: GraphNode;
  readonly state: "ready" | "waiting" | "pending" | "skipped" | "error";
  /** Why it is neither ready nor skipped. */
  readonly message?: string;
  /** What is applied. */
  readonly desired: readonly KubeObject[];
  /** What stays as it is. */
  readonly unchanged: readonly KubeObject[];
}

/** What becomes of an instance. */
export interface Resolved {
  readonly nodes: readonly NodeResult[];
  /** The fields of the status whose data is there. */
  readonly status: Record<string, unknown>;
}

/** Decides about all nodes of an instance. */
export function resolveGraph(graph: Graph, instance: KubeObject, existing: Existing): Resolved {
  const { status: _, ...visible } = instance as KubeObject & { status?: unknown };
  const data: Record<string, unknown> = { [INSTANCE]: visible };
  const results = new Map<string, NodeResult>();
  for (const node of graph.nodes) {
    const result = resolveNode(graph, node, { instance, existing, data, results });
    results.set(node.id, result);
  }
  return { nodes: [...results.values()], status: statusOf(graph, data) };
}

interface Scope {
  readonly instance: KubeObject;
  readonly existing: Existing;
  /** The nodes that have been looked at, as expressions see them. */
  readonly data: Record<string, unknown>;
  readonly results: ReadonlyMap<string, NodeResult>;
}

function resolveNode(graph: Graph, node: GraphNode, scope: Scope): NodeResult {
  const { existing, data, results } = scope;
  const external = node.type === "external" || node.type === "externalCollection";
  const unchanged = external ? [] : existing.own(node);
  const result = (state: NodeResult["state"], message: string): NodeResult => ({
    node,
    state,
    message,
    desired: [],
    unchanged,
  });
  const needed = node.dependencies.map((id) => results.get(id)!);
  if (needed.some(({ state }) => state === "skipped")) return { node, state: "skipped", desired: [], unchanged: [] };
  const missing = needed.find(({ state }) => state !== "ready");
  // What there is of it counts for the status, also while it waits.
  if (isList(node)) data[node.id] = inCollectionOrder(unchanged);
  else if (unchanged[0]) data[node.id] = unchanged[0];
  try {
    // What is decided by the instance alone is decided first: a node that is left out waits for nothing.
    const early = node.includeWhen.filter(
      ({ variables }) => !missing || [...variables].every((name) => name === INSTANCE),
    );
    if (allHold(graph, node, early, data)) return { node, state: "skipped", desired: [], unchanged: [] };
    if (missing) return result("pending", `${missing.node.id} is not ready: ${missing.message}`);
    const resolved = objectsOf(graph, node, data);
    if (external) return resolveExternal(graph, node, resolved[0]!, scope);
    const desired = labeled(node, resolved, scope.instance);
    const found = desired.map((draft) => unchanged.find((one) => isSame(one, draft)));
    const observed = found.filter((one) => one !== undefined);
    if (isList(node)) data[node.id] = observed;
    else if (observed[0]) data[node.id] = observed[0];
    const waitsFor = readiness(graph, node, observed, desired.length);
    const state = waitsFor === undefined ? "ready" : "waiting";
    return { node, state, ...(waitsFor !== undefined && { message: waitsFor }), desired, unchanged: [] };
  } catch (error) {
    const { message } = error as Error;
    return result(error instanceof DataPending ? "pending" : "error", message);
  }
}

/** Reads the objects that an external reference names. */
function resolveExternal(graph: Graph, node: GraphNode, ref: Record<string, unknown>, scope: Scope): NodeResult {
  const { name, namespace, selector } = ref["metadata"] as { name?: string; namespace?: string; selector?: object };
  const own = node.kind.namespaced ? (namespace ?? scope.instance.metadata.namespace) : undefined;
  const base = { node, desired: [], unchanged: [] };
  if (node.type === "externalCollection") {
    const all = scope.existing.externals(node, node.kind.namespaced ? namespace : undefined);
    const required = requirementsOf((selector ?? {}) as LabelSelector);
    const objects = all.filter(({ metadata }) => matchesLabels(required, metadata.labels));
    scope.data[node.id] = objects;
    const waitsFor = readiness(graph, node, objects, objects.length);
    return waitsFor === undefined ? { ...base, state: "ready" } : { ...base, state: "waiting", message: waitsFor };
  }
  const object = scope.existing.external(node, name!, own);
  if (!object)
    return { ...base, state: "waiting", message: `${node.kind.kind} ${own ? `${own}/` : ""}${name} does not exist` };
  scope.data[node.id] = object;
  const waitsFor = readiness(graph, node, [object], 1);
  return waitsFor === undefined ? { ...base, state: "ready" } : { ...base, state: "waiting", message: waitsFor };
}

/** What the objects of a node lack to be ready. */
function readiness(
  graph: Graph,
  node: GraphNode,
  observed: readonly KubeObject[],
  expected: number,
): string | undefined {
  if (observed.length < expected)
    return isList(node) ? `${observed.length} of ${expected} objects exist` : `it does not exist yet`;
  for (const object of observed) {
    const data: Data = { [isList(node) ? EACH : node.id]: object };
    for (const condition of node.readyWhen) {
      try {
        if (evaluated(graph, node, condition, data) === true) continue;
      } catch (error) {
        if (!(error instanceof DataPending)) throw error;
      }
      return `\${${condition.text}} does not hold for ${object.metadata.name}`;
    }
  }
  return undefined;
}

/** Objects as they are applied: with labels, and in the namespace of the instance unless they name another. */
function labeled(node: GraphNode, objects: readonly Record<string, unknown>[], instance: KubeObject): KubeObject[] {
  const keys = new Set<string>();
  return objects.map((object, i) => {
    const { metadata, status: _, ...rest } = object as unknown as KubeObject & { status?: unknown };
    const { name, labels } = metadata;
    if (typeof name !== "string" || name === "") throw new Error("metadata.name is empty");
    const namespace = node.kind.namespaced ? (metadata.namespace ?? instance.metadata.namespace) : undefined;
    const key = `${namespace ?? ""}/${name}`;
    if (keys.has(key)) throw new Error(`two objects of the collection are called ${key}`);
    keys.add(key);
    const own = node.type === "collection" ? itemLabels(i, objects.length) : {};
    const all = { ...labels, ...nodeLabels(node.id, instance), ...own };
    return { ...rest, metadata: { ...metadata, ...(namespace && { namespace }), labels: all } } as KubeObject;
  });
}

const isSame = (one: KubeObject, other: KubeObject) =>
  one.metadata.name === other.metadata.name && one.metadata.namespace === other.metadata.namespace;

const inCollectionOrder = (objects: readonly KubeObject[]) =>
  [...objects].sort((a, b) => Number(a.metadata.labels?.[INDEX_LABEL]) - Number(b.metadata.labels?.[INDEX_LABEL]));

/** The fields of the status whose data is there. One that cannot be computed is left out, like one that waits. */
function statusOf(graph: Graph, data: Data): Record<string, unknown> {
  const values = new Map<string, unknown>();
  for (const text of graph.statusTexts) {
    try {
      values.set(pathKey(text.path), textValue(graph, undefined, text, data));
    } catch (error) {
      if (!(error instanceof DataPending)) throw error;
      values.set(pathKey(text.path), undefined);
    }
  }
  return withoutEmpty(filled(graph.status, values)) as Record<string, unknown>;
}

/** Objects none of whose fields are known yet are left out as well. */
function withoutEmpty(value: unknown, isRoot = true): unknown {
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, field]) => [name, withoutEmpty(field, false)] as const);
  const known = entries.filter(([, field]) => field !== undefined && field !== null);
  return known.length > 0 || isRoot ? Object.fromEntries(known) : undefined;
}
