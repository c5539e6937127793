import { type AnyObject, ageSince, JsonPath, printValue } from "@konverge/core";
import type { ColumnDefinition } from "../resources/definition.ts";
import type { Cell } from "./cells.ts";

/** The cells of a custom resource: its name, then what its printer columns point at. */
export function customCells(columns: readonly ColumnDefinition[]): (object: AnyObject, now: number) => Cell[] {
  const readers = columns.map(readerOf);
  return (object, now) => [object.metadata.name, ...readers.map((read) => read(object, now))];
}

function readerOf({ jsonPath = "", type }: ColumnDefinition): (object: AnyObject, now: number) => Cell {
  const path = new JsonPath(`{${jsonPath}}`);
  return (object, now) => {
    const [first] = found(() => path.find(object)[0] ?? []);
    return first === undefined || first === null ? null : cellOf(type, first, now);
  };
}

/** A path that leads nowhere in this object is an empty cell. */
function found(values: () => readonly unknown[]): readonly unknown[] {
  try {
    return values();
  } catch {
    return [];
  }
}

function cellOf(type: string, value: unknown, now: number): Cell {
  switch (type) {
    case "string":
      return printValue(value);
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value !== "string" ? null : Number.isNaN(Date.parse(value)) ? "<invalid>" : ageSince(value, now);
    default:
      return null;
  }
}
