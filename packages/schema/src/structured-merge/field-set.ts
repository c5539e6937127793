import type { FieldsV1 } from "@konverge/core";
import { compareRead, type FieldPath, type ReadElement, readElement } from "./path-element.ts";

/**
 * A set of fields, as a tree of path elements. It *is* the JSON of `managedFields[].fieldsV1`, so that reading and
 * writing it costs nothing: `{}` under an element means that the element is a member, `"."` says the same of an element
 * that also has children, and the root `{}` is the empty set.
 *
 * Sets are never changed: every operation returns a new one that shares what it can, and the very same one when nothing
 * changes. Elements are compared as text, so they must be in canonical form (see `decodeFieldSet`).
 */
export type FieldSet = FieldsV1;

/** A member that has no children. Shared, hence frozen. */
export const MEMBER: FieldSet = Object.freeze({});

/** The set without members. */
export const EMPTY: FieldSet = Object.freeze({});

const SELF = ".";

/** No members at all. */
export function isEmpty(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

/** Below the root a node without keys is a member: nothing else would have put it there. */
function isLeaf(node: FieldSet): boolean {
  return isEmpty(node);
}

function isMember(node: FieldSet): boolean {
  return node[SELF] !== undefined || isLeaf(node);
}

function asMember(node: FieldSet): FieldSet {
  return isMember(node) ? node : { [SELF]: MEMBER, ...node };
}

/** A node of these children, a member or not; undefined when it would be neither. */
function nodeOf(children: FieldSet | undefined, member: boolean): FieldSet | undefined {
  if (!children || isEmpty(children)) return member ? MEMBER : undefined;
  return member ? { [SELF]: MEMBER, ...children } : children;
}

function withoutSelf(node: FieldSet): FieldSet {
  if (node[SELF] === undefined) return node;
  const { [SELF]: _, ...children } = node;
  return children;
}

/** The set of these paths alone; their parents are no members. */
export function fromPaths(...paths: FieldPath[]): FieldSet {
  let set = EMPTY;
  for (const path of paths) {
    if (path.length > 0)
      set = union(
        set,
        path.reduceRight<FieldSet>((inner, element) => ({ [element]: inner }), MEMBER),
      );
  }
  return set;
}

/** Members of either. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmpty(b)) return a;
  if (isEmpty(a)) return b;
  let result: Record<string, FieldSet> | undefined;
  for (const element in b) {
    if (element === SELF) continue;
    const mine = a[element];
    const both = mine === undefined ? b[element]! : unionOfNodes(mine, b[element]!);
    if (both === mine) continue;
    result ??= { ...a };
    result[element] = both;
  }
  return result ?? a;
}

function unionOfNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  if (isLeaf(a)) return asMember(b);
  if (isLeaf(b)) return asMember(a);
  const both = union(a, b);
  return b[SELF] === undefined ? both : asMember(both);
}

/** Members of both. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return a === b ? a : (intersectionOfChildren(a, b) ?? EMPTY);
}

function intersectionOfChildren(a: FieldSet, b: FieldSet): FieldSet | undefined {
  let result: Record<string, FieldSet> | undefined;
  for (const element in b) {
    const mine = a[element];
    if (mine === undefined || element === SELF) continue;
    const other = b[element]!;
    const both = nodeOf(intersectionOfChildren(mine, other), isMember(mine) && isMember(other));
    if (!both) continue;
    result ??= {};
    result[element] = both;
  }
  return result;
}

/** Members of `a` that are no members of `b`. What lies below a member of `b` stays. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, differenceOfNodes) ?? EMPTY;
}

function differenceOfNodes(a: FieldSet, b: FieldSet): FieldSet | undefined {
  const member = isMember(a);
  const staysMember = member && !isMember(b);
  const children = withoutSelf(a);
  const rest = subtract(children, b, differenceOfNodes);
  return rest === children && staysMember === member ? a : nodeOf(rest, staysMember);
}

/** Like {@link difference}, but what lies below a member of `b` goes with it. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, recursiveDifferenceOfNodes) ?? EMPTY;
}

function recursiveDifferenceOfNodes(a: FieldSet, b: FieldSet): FieldSet | undefined {
  if (isMember(b)) return undefined;
  const children = withoutSelf(a);
  const rest = subtract(children, b, recursiveDifferenceOfNodes);
  return rest === children ? a : nodeOf(rest, isMember(a));
}

/** The children of `a`, each less its counterpart in `b`; `a` itself when that changes nothing. */
function subtract(
  a: FieldSet,
  b: FieldSet,
  subtractNodes: (a: FieldSet, b: FieldSet) => FieldSet | undefined,
): FieldSet | undefined {
  let changed: Map<string, FieldSet | undefined> | undefined;
  for (const element in b) {
    const mine = a[element];
    if (mine === undefined || element === SELF) continue;
    const rest = subtractNodes(mine, b[element]!);
    if (rest === mine) continue;
    changed ??= new Map();
    changed.set(element, rest);
  }
  if (!changed) return a;
  let result: Record<string, FieldSet> | undefined;
  for (const element in a) {
    const rest = changed.has(element) ? changed.get(element) : a[element];
    if (!rest) continue;
    result ??= {};
    result[element] = rest;
  }
  return result;
}

/** Whether the field at this path is a member. */
export function has(set: FieldSet, path: FieldPath): boolean {
  let node: FieldSet | undefined = set;
  for (const element of path) {
    node = node[element];
    if (!node) return false;
  }
  return path.length > 0 && isMember(node);
}

/** Whether an element of the top level is a member. */
export function hasMember(set: FieldSet, element: string): boolean {
  const node = set[element];
  return node !== undefined && isMember(node);
}

/** The members below an element, undefined when there are none. */
export function below(set: FieldSet, element: string): FieldSet | undefined {
  const node = set[element];
  if (node === undefined) return undefined;
  const children = withoutSelf(node);
  return isEmpty(children) ? undefined : children;
}

/** The same members. */
export function equals(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  let count = 0;
  for (const element in a) {
    const other = b[element];
    if (other === undefined || !equals(a[element]!, other)) return false;
    count++;
  }
  for (const _ in b) count--;
  return count === 0;
}

/** All members, in the order in which the API server lists them: those of a level before those below it. */
export function paths(set: FieldSet): FieldPath[] {
  const found: FieldPath[] = [];
  collect(set, [], found);
  return found;
}

function collect(set: FieldSet, prefix: FieldPath, found: FieldPath[]): void {
  const elements = sortedElements(set);
  for (const element of elements) if (isMember(set[element]!)) found.push([...prefix, element]);
  for (const element of elements) if (!isLeaf(set[element]!)) collect(set[element]!, [...prefix, element], found);
}

function sortedElements(set: FieldSet): string[] {
  const elements: ReadElement[] = [];
  for (const element in set) if (element !== SELF) elements.push(readElement(element));
  return elements.sort(compareRead).map(({ element }) => element);
}

/** The same set with its elements in the order in which the API server writes them. */
export function sorted(set: FieldSet): FieldSet {
  let inOrder = true;
  let previous: ReadElement | undefined;
  let changed: Map<string, FieldSet> | undefined;
  for (const element in set) {
    if (element === SELF) {
      inOrder &&= previous === undefined;
      continue;
    }
    if (inOrder) {
      const read = readElement(element);
      if (previous !== undefined && compareRead(previous, read) > 0) inOrder = false;
      previous = read;
    }
    const node = set[element]!;
    const sortedNode = sorted(node);
    if (sortedNode === node) continue;
    changed ??= new Map();
    changed.set(element, sortedNode);
  }
  if (inOrder && !changed) return set;
  const result: Record<string, FieldSet> = set[SELF] === undefined ? {} : { [SELF]: MEMBER };
  for (const element of sortedElements(set)) result[element] = changed?.get(element) ?? set[element]!;
  return result;
}
