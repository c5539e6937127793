/** Rows in columns, with headings, as kubectl prints them. */
export function tableText(headings: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const texts = [
    headings.map((one) => one.toUpperCase()),
    ...rows.map((row) => row.map((cell) => String(cell ?? "<none>"))),
  ];
  const widths = headings.map((_, i) => Math.max(...texts.map((row) => row[i]?.length ?? 0)));
  return texts
    .map((row) =>
      row
        .map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i]! + 3)))
        .join("")
        .trimEnd(),
    )
    .join("\n");
}
