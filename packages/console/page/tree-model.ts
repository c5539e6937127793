import type { EventEntry, ObjectSummary } from "../src/protocol.ts";

/** A node of the tree. */
export interface TreeNode {
  readonly object: ObjectSummary;
  readonly children: readonly TreeNode[];
  /** Objects that it refers to. */
  readonly uses?: readonly ObjectSummary[];
  /** Objects that should be there and are not, and why. */
  readonly missing?: { readonly text: string; readonly why: string };
}

/** Kinds whose replicas are their own children. */
const OWNS_PODS = new Set(["ReplicaSet", "StatefulSet", "ReplicationController"]);

/** The topmost owner of an object that is known. */
export function rootOf(object: ObjectSummary, objects: ReadonlyMap<string, ObjectSummary>): ObjectSummary {
  const visited = new Set([object.id]);
  let root = object;
  for (;;) {
    const owner = objects.get(root.owners[0] ?? "");
    if (!owner || visited.has(owner.id)) return root;
    visited.add(owner.id);
    root = owner;
  }
}

/** The tree below an object. */
export function treeOf(
  root: ObjectSummary,
  children: ReadonlyMap<string, readonly ObjectSummary[]>,
  warnings: ReadonlyMap<string, EventEntry>,
  visited: ReadonlySet<string> = new Set(),
): TreeNode {
  const within = new Set([...visited, root.id]);
  const own = (children.get(root.id) ?? []).filter(({ id }) => !within.has(id)).toSorted(compare);
  const missing = missingOf(root, own, warnings);
  return {
    object: root,
    children: own.map((child) => treeOf(child, children, warnings, within)),
    ...(missing && { missing }),
  };
}

function missingOf(object: ObjectSummary, own: readonly ObjectSummary[], warnings: ReadonlyMap<string, EventEntry>) {
  if (!object.replicas || !OWNS_PODS.has(object.kind)) return undefined;
  const pods = own.filter(({ pod, state }) => pod && state !== "terminating").length;
  const count = object.replicas.desired - pods;
  if (count <= 0) return undefined;
  const why = object.problem ?? warnings.get(object.id)?.message ?? "not created yet";
  return { text: count === 1 ? "1 pod is missing" : `${count} pods are missing`, why };
}

/** ReplicaSets of earlier revisions come last. */
function compare(a: ObjectSummary, b: ObjectSummary): number {
  const empty = (one: ObjectSummary) => Number(one.kind === "ReplicaSet" && one.replicas?.desired === 0);
  return (
    empty(a) - empty(b) ||
    rankOf(a) - rankOf(b) ||
    a.kind.localeCompare(b.kind) ||
    a.name.localeCompare(b.name, "en", { numeric: true })
  );
}

/** What runs comes before what configures it. */
function rankOf({ group, kind, pod }: ObjectSummary): number {
  if (pod) return 2;
  if (group.includes(".") && !group.endsWith(".k8s.io")) return 0;
  return ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job"].includes(kind) ? 1 : 3;
}

/** Nodes in the order in which they are drawn. */
export function flatten(node: TreeNode): TreeNode[] {
  return [node, ...node.children.flatMap(flatten)];
}
