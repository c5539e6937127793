import { fromPaths, recursiveDifference } from "./field-set.ts";
import type { FieldPath } from "./path-element.ts";
import type { FieldFilter } from "./updater.ts";

/** Takes these fields, and all below them, out of a set: `excludeFields(["f:status"])`. */
export function excludeFields(...paths: FieldPath[]): FieldFilter {
  const excluded = fromPaths(...paths);
  return (set) => recursiveDifference(set, excluded);
}
