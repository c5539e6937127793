import type { ObjectReference, ObjectSummary } from "../src/protocol.ts";
import type { TreeNode } from "./tree-model.ts";

/** All objects by their names, to find what references mean. */
export type ObjectsByName = ReadonlyMap<string, readonly ObjectSummary[]>;

export function byName(objects: Iterable<ObjectSummary>): ObjectsByName {
  const found = new Map<string, ObjectSummary[]>();
  for (const object of objects) {
    const list = found.get(object.name);
    if (list) list.push(object);
    else found.set(object.name, [object]);
  }
  return found;
}

/** The objects that an object refers to and that are there. */
export function referred(object: ObjectSummary, names: ObjectsByName): ObjectSummary[] {
  const found = (object.references ?? []).flatMap((reference) => resolve(object, reference, names));
  return [...new Set(found)].filter(({ id }) => id !== object.id && !object.owners.includes(id));
}

function resolve(from: ObjectSummary, reference: ObjectReference, names: ObjectsByName): readonly ObjectSummary[] {
  const namespace = reference.namespace ?? from.namespace;
  const near = (names.get(reference.name) ?? []).filter((one) => !one.namespace || one.namespace === namespace);
  const exact = near.filter(({ kind }) => kind.toLowerCase() === reference.kind);
  return exact.length > 0 ? exact : near.filter(({ kind }) => isNamed(kind.toLowerCase(), reference.kind));
}

/** A field is called `tlsSecret` where a Secret is meant, and `claim` or `cluster` where the kind has a longer name. */
function isNamed(kind: string, noun: string): boolean {
  return noun.endsWith(kind) || (noun.length >= 5 && kind.endsWith(noun));
}

/** The tree with what its objects refer to: each at the first one that does, unless the tree has it anyway. */
export function withReferences(root: TreeNode, names: ObjectsByName): TreeNode {
  const shown = new Set<string>();
  const note = (node: TreeNode): void => {
    shown.add(node.object.id);
    for (const child of node.children) note(child);
  };
  note(root);
  const add = (node: TreeNode): TreeNode => {
    const uses = referred(node.object, names).filter(({ id }) => !shown.has(id));
    for (const { id } of uses) shown.add(id);
    const children = node.children.map(add);
    return uses.length > 0 ? { ...node, children, uses } : { ...node, children };
  };
  return add(root);
}

/** The objects that refer to an object; of those that own each other, the topmost. */
export function referrers(
  object: ObjectSummary,
  objects: ReadonlyMap<string, ObjectSummary>,
  names: ObjectsByName,
): ObjectSummary[] {
  const refers = (one: ObjectSummary) =>
    one.references?.some(({ name }) => name === object.name) === true && referred(one, names).includes(object);
  const found = new Set([...objects.values()].filter(refers));
  return [...found].filter((one) => !one.owners.some((id) => found.has(objects.get(id)!)));
}
