import { readFileSync, writeFileSync } from "node:fs";
import { listedSigs, readList } from "./lists.ts";

const PAGE = new URL("../../docs/reference/conformance.md", import.meta.url);
const BEGIN = "<!-- counts: written by npm run conformance -- --update -->\n";
const END = "<!-- end of counts -->\n";

/** How many specs of each sig pass here and there, as the committed lists have it. */
export function countsTable(): string {
  const sigs = [...new Set([...listedSigs("passing"), ...listedSigs("yardstick")])].sort();
  const rows = sigs.map((sig) => {
    const here = readList("passing", sig);
    const there = readList("yardstick", sig);
    const onNodes = readList("nodes", sig);
    const all = / of (\d+) pass/.exec(here?.about ?? there?.about ?? "")?.[1] ?? "";
    const count = (list: typeof here) => (list ? String(list.names.length) : "not run");
    return `| ${sig} | ${all} | ${count(here)} | ${count(onNodes)} | ${count(there)} |\n`;
  });
  const head =
    "| SIG | specs | passed on the embedded cluster | passed there on real nodes | passed on the real control plane with KWOK |\n|---|---|---|---|---|\n";
  return `${BEGIN}${head}${rows.join("")}${END}`;
}

/** The page as it is. */
export function readPage(): string {
  return readFileSync(PAGE, "utf8");
}

/** Puts the present counts into the page. */
export function updatePage(): void {
  const page = readPage();
  const [before, rest] = page.split(BEGIN) as [string, string?];
  const after = rest?.split(END)[1];
  if (after === undefined)
    throw new Error(`${PAGE.pathname} has no place for the counts: put ${BEGIN} and ${END} there`);
  writeFileSync(PAGE, before + countsTable() + after);
}
