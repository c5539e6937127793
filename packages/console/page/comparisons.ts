import type { ResultTable } from "../src/protocol.ts";

/** Values that are drawn beside each other. */
export interface Comparison {
  readonly title: string;
  /** Their ratio, if the table has one. */
  readonly ratio?: string;
  readonly bars: readonly Bar[];
}

export interface Bar {
  readonly name: string;
  readonly value: number;
  /** The value as the table has it, with its unit. */
  readonly text: string;
}

/**
 * What a table of results compares. Its first columns, as far as they are not numbers, name the rows.
 *
 * With a column `ratio`, or with numbers only, the columns of each row are compared; otherwise the rows of each column. If the
 * first of two names is the same in several rows, these are compared with each other.
 */
export function comparisonsOf({ head, rows }: ResultTable): Comparison[] {
  const columns = head.map((_, column) => column);
  const numeric = columns.filter((column) => isNumeric(rows.map((row) => row[column] ?? "")));
  const across = (row: readonly string[], compared: readonly number[]) =>
    compared.flatMap((column) => barOf(head[column] ?? "", row[column] ?? ""));
  if (rows.length === 1 && numeric.length === head.length) return [{ title: "", bars: across(rows[0]!, columns) }];
  const values = numeric.filter((column) => column > 0);
  const ratio = head.indexOf("ratio");
  if (ratio > 0) {
    const compared = values.filter((column) => column !== ratio);
    return rows.map((row) => ({
      title: row[0] ?? "",
      ...(row[ratio] && { ratio: row[ratio] }),
      bars: across(row, compared),
    }));
  }
  const firstNames = [...new Set(rows.map((row) => row[0] ?? ""))];
  const isGrouped = firstNames.length < rows.length && !numeric.includes(1);
  return (isGrouped ? firstNames : [undefined]).flatMap((group) => {
    const compared = rows.filter((row) => group === undefined || row[0] === group);
    const comparisons = values.map((column) => ({
      title: [group, head[column]].filter(Boolean).join(": "),
      bars: compared.flatMap((row) => barOf(row[group === undefined ? 0 : 1] ?? "", row[column] ?? "")),
    }));
    return comparisons.filter(({ bars }) => bars.length > 0);
  });
}

const ABSENT = /^[-–]?$/;
/** A number, with or without a unit behind it. */
const NUMBER = /^-?[\d,]*\.?\d+(?=$|\s|%|×)/;

function isNumeric(cells: readonly string[]): boolean {
  return cells.every((cell) => ABSENT.test(cell) || NUMBER.test(cell)) && cells.some((cell) => NUMBER.test(cell));
}

function barOf(name: string, text: string): Bar[] {
  const [number] = NUMBER.exec(text) ?? [];
  return number === undefined ? [] : [{ name, value: Number(number.replaceAll(",", "")), text }];
}
