import { type FieldPath, type FieldSet, fromPaths, MEMBER, recursiveDifference } from "./field-set.ts";
import type { FieldFilter } from "./updater.ts";

/** Takes these fields, and all below them, out of a set: `excludeFields(["f:status"])`. */
export function excludeFields(...paths: FieldPath[]): FieldFilter {
  const excluded = fromPaths(...paths);
  return (set) => recursiveDifference(set, excluded);
}

/** Any one element of a path. */
export const ANY = "*";

/**
 * Keeps only these fields and all below them: `includeFields(["f:spec", "f:containers", ANY, "f:resources"])`. Fields on
 * the way there are kept too.
 */
export function includeFields(...paths: FieldPath[]): FieldFilter {
  return (set) => include(set, paths) ?? {};
}

function include(set: FieldSet, paths: readonly FieldPath[]): FieldSet | undefined {
  let kept: Record<string, FieldSet> | undefined;
  for (const element in set) {
    const onward = paths.filter(([first]) => first === element || first === ANY).map(([, ...rest]) => rest);
    if (onward.length === 0) continue;
    const node = set[element]!;
    const part = onward.some((path) => path.length === 0) ? node : includeNode(node, onward);
    if (!part) continue;
    kept ??= {};
    kept[element] = part;
  }
  return kept;
}

function includeNode(node: FieldSet, paths: readonly FieldPath[]): FieldSet | undefined {
  const children = include(node, paths);
  const isMember = node["."] !== undefined || Object.keys(node).length === 0;
  if (!children) return isMember ? MEMBER : undefined;
  return isMember ? { ".": MEMBER, ...children } : children;
}
