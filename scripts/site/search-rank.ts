/**
 * How much the place of a page counts in the search, as a factor of its score: a guide explains what the changelog only mentions. The
 * page runs this in the browser as text: it uses nothing outside of itself.
 */
export function searchRank(address: string): number {
  if (address.includes("/guide/")) return 3;
  if (address.includes("/changelog") || address.includes("/decisions/")) return 0.3;
  if (address.includes("/reference/api/")) return 0.7;
  return 1;
}
