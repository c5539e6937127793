/** Changes beyond this are counted, not shown. */
const MOST_SHOWN = 40;

/** How one text differs from another, line by line: what goes with `-`, what comes with `+`, by its line number. */
export function lineDifferences(before: string, after: string): string[] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const lines = changes(a.slice(start, a.length - end), b.slice(start, b.length - end), start);
  if (lines.length <= MOST_SHOWN) return lines;
  return [...lines.slice(0, MOST_SHOWN), `… and ${lines.length - MOST_SHOWN} more`];
}

/** By the longest common subsequence; texts that are too long for that are shown as replaced whole. */
function changes(a: readonly string[], b: readonly string[], offset: number): string[] {
  const all = () => [
    ...a.map((line, i) => `- ${offset + i + 1}: ${line}`),
    ...b.map((line, j) => `+ ${offset + j + 1}: ${line}`),
  ];
  if (a.length * b.length > 4_000_000) return all();
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] =
        a[i] === b[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
    }
  }
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      i++;
      j++;
    } else if (j >= b.length || (i < a.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!)) {
      lines.push(`- ${offset + i + 1}: ${a[i++]}`);
    } else lines.push(`+ ${offset + j + 1}: ${b[j++]}`);
  }
  return lines;
}
