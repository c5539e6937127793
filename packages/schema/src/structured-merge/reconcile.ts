import { type FieldSet, fromPaths, isEmpty, recursiveDifference, union } from "./field-set.ts";
import type { ListType, MapType, MergeType } from "./merge-type.ts";

/** Sets that were found to agree with a type. */
const agreed = new WeakMap<FieldSet, WeakSet<MergeType>>();

/**
 * Adapts a set that was recorded under an older schema: what was owned field by field and has since become atomic is
 * now owned as a whole. The very same set when nothing has changed.
 */
export function reconcile(type: MergeType, set: FieldSet): FieldSet {
  if (agreed.get(set)?.has(type)) return set;
  const atomic: string[][] = [];
  visit(type, set, false, [], atomic);
  const result =
    atomic.length === 0 ? set : union(recursiveDifference(set, fromPaths(...atomic)), fromPaths(...atomic));
  const types = agreed.get(result) ?? new WeakSet();
  agreed.set(result, types.add(type));
  return result;
}

/** `children` are the members below this place; `whole` says that the place itself is owned and nothing below it. */
function visit(type: MergeType, children: FieldSet, whole: boolean, path: string[], atomic: string[][]): void {
  if (type.map) visitMap(type.map, children, whole, path, atomic);
  else if (type.list && !type.scalar) visitList(type.list, children, whole, path, atomic);
}

function visitMap(type: MapType, children: FieldSet, whole: boolean, path: string[], atomic: string[][]): void {
  if (type.isFreeForm) return;
  if (type.atomic && !whole) {
    if (!isEmpty(children)) atomic.push([...path]);
    return;
  }
  for (const element in children) {
    if (element === ".") continue;
    const inner = element.startsWith("f:") ? type.field(element.slice(2)).type : undefined;
    if (inner) visitChild(inner, element, children[element]!, path, atomic);
  }
}

function visitList(type: ListType, children: FieldSet, whole: boolean, path: string[], atomic: string[][]): void {
  if (type.atomic && !whole) {
    atomic.push([...path]);
    return;
  }
  for (const element in children) {
    if (element !== ".") visitChild(type.item, element, children[element]!, path, atomic);
  }
}

function visitChild(type: MergeType, element: string, node: FieldSet, path: string[], atomic: string[][]): void {
  path.push(element);
  visit(type, node, isEmpty(node), path, atomic);
  path.pop();
}
