import { ApiError, quoted, type StatusCause } from "@konverge/core";
import { type FieldSet, fromPaths, has, paths } from "./field-set.ts";
import { managerInfo } from "./managers.ts";
import type { FieldPath } from "./path-element.ts";
import { compareText, pathText } from "./path-element.ts";

/** A field that another manager owns, with another value. */
export interface Conflict {
  /** The owner, a `managerId`. */
  manager: string;
  path: FieldPath;
}

/** Thrown inside when an apply is not forced; {@link conflictError} says it to the world. */
export class ApplyConflicts extends Error {
  readonly conflicts: readonly Conflict[];

  constructor(conflicts: readonly Conflict[]) {
    super(conflictMessage(conflicts));
    this.conflicts = conflicts;
  }

  static of(sets: ReadonlyMap<string, FieldSet>): ApplyConflicts {
    const managers = [...sets].sort(([a], [b]) => compareText(a, b));
    return new ApplyConflicts(
      managers.flatMap(([manager, set]) => paths(set).map((path): Conflict => ({ manager, path }))),
    );
  }

  toSet(): FieldSet {
    return fromPaths(...this.conflicts.map(({ path }) => path));
  }

  /** Those that are not in a set. */
  except(set: FieldSet): ApplyConflicts {
    return new ApplyConflicts(this.conflicts.filter(({ path }) => !has(set, path)));
  }
}

/** 409 with a cause for each field. */
export function conflictError({ conflicts, message }: ApplyConflicts): ApiError {
  const causes = conflicts.map(
    ({ manager, path }): StatusCause => ({
      reason: "FieldManagerConflict",
      message: `conflict with ${managerText(manager)}`,
      field: pathText(path),
    }),
  );
  return new ApiError({ code: 409, reason: "Conflict", message, details: { causes } });
}

function conflictMessage(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${managerText(first!.manager)}: ${pathText(first!.path)}`;
  }
  const byManager = Map.groupBy(conflicts, ({ manager }) => manager);
  const lines = [...byManager]
    .sort(([a], [b]) => compareText(a, b))
    .flatMap(([manager, fields]) => [
      `conflicts with ${managerText(manager)}:`,
      ...fields.map(({ path }) => `- ${pathText(path)}`),
    ]);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join("\n")}`;
}

/** `"kubectl" using apps/v1`: only updaters have a version. */
function managerText(id: string): string {
  const { manager, operation, apiVersion, subresource } = managerInfo(id);
  const name = subresource ? `${quoted(manager)} with subresource ${quoted(subresource)}` : quoted(manager);
  return operation === "Update" ? `${name} using ${apiVersion}` : name;
}
