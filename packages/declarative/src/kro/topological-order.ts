import type { GraphNode } from "./graph.ts";
import type { GraphMistake } from "./graph-error.ts";

/** Nodes in an order in which each comes after those that it reads; of several that may be next, the first in the definition. */
export function inOrder(nodes: readonly GraphNode[], mistakes: GraphMistake[]): GraphNode[] {
  const ordered: GraphNode[] = [];
  const placed = new Set<string>();
  let left = [...nodes];
  while (left.length > 0) {
    const next = left.find(({ dependencies }) => dependencies.every((id) => placed.has(id)));
    if (!next) {
      const ids = cycleIn(left);
      const path = `spec.resources[${nodes.findIndex(({ id }) => id === ids[0])}]`;
      mistakes.push({
        path,
        message: `the resources depend on each other in a cycle: ${[...ids, ids[0]].join(" → ")}`,
      });
      return [...nodes];
    }
    ordered.push(next);
    placed.add(next.id);
    left = left.filter((node) => node !== next);
  }
  return ordered;
}

/** The ids on a cycle: all nodes that are left read one that is left. */
function cycleIn(left: readonly GraphNode[]): string[] {
  const byId = new Map(left.map((node) => [node.id, node]));
  const path: string[] = [];
  let at = left[0]!.id;
  while (!path.includes(at)) {
    path.push(at);
    at = byId.get(at)!.dependencies.find((id) => byId.has(id))!;
  }
  return path.slice(path.indexOf(at));
}
