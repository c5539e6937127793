/** The order of names in an import, as Biome sorts them: letter by letter, upper case before lower case. */
export function importOrder(a: string, b: string): number {
  const [x, y] = [a, b].map((name) => name.replace(/^type /, "")) as [string, string];
  const at = [...x].findIndex((letter, i) => letter !== y[i]);
  const [one, other] = [x[at] ?? "", y[at] ?? ""];
  const [low, high] = [one.toLowerCase(), other.toLowerCase()];
  if (low === high) return one < other ? -1 : 1;
  return low < high ? -1 : 1;
}
