/**
 * Objects as rows: what `kubectl get` prints. Columns of built-in kinds are facts, their cells are functions of an object,
 * a file for each family of kinds; custom resources have the printer columns of their CRD.
 */
import type { AnyObject } from "@konverge/core";
import type { Pod } from "@konverge/kinds";
import type { Call, TableContent } from "../call/call.ts";
import type { ColumnDefinition, ResourceVersion } from "../resources/definition.ts";
import { builtinCells } from "./builtin-cells.ts";
import type { Cell } from "./cells.ts";
import { customCells } from "./custom-cells.ts";
import { podRowConditions } from "./pod-cells.ts";

const NAME_COLUMN: ColumnDefinition = { name: "Name", type: "string", format: "name", priority: 0 };
const CUSTOM_AGE: ColumnDefinition = {
  name: "Age",
  type: "date",
  format: "",
  priority: 0,
  jsonPath: ".metadata.creationTimestamp",
};

type RowsOf = (object: AnyObject, now: number) => Cell[];

/** Made once for each served version: parsing the paths of printer columns is not for every request. */
const rowsOfVersion = new WeakMap<ResourceVersion, RowsOf>();

/** The table of some objects of one resource. */
export function tableContent(call: Call, objects: readonly AnyObject[]): TableContent {
  const { definition, version } = call;
  const columns = definition.custom ? [NAME_COLUMN, ...customColumns(version)] : version.columns;
  let rowOf = rowsOfVersion.get(version);
  if (!rowOf) {
    rowOf = definition.custom ? customCells(customColumns(version)) : builtinCells(definition.group, version.kind);
    rowsOfVersion.set(version, rowOf);
  }
  const cellsOf = rowOf;
  const now = call.clock.now();
  const isPod = definition.group === "" && version.kind === "Pod";
  return {
    columnDefinitions: columns.map(({ name, type, format, priority, description = "" }) => ({
      name,
      type,
      format,
      description,
      priority,
    })),
    rows: objects.map((object) => {
      const conditions = isPod ? podRowConditions(object as unknown as Pod) : undefined;
      return { cells: cellsOf(object, now), ...(conditions && { conditions }) };
    }),
  };
}

/** A CRD without columns shows ages. */
function customColumns({ columns }: ResourceVersion): readonly ColumnDefinition[] {
  return columns.length > 0 ? columns : [CUSTOM_AGE];
}
