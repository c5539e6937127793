import { table } from "../harness/results.ts";
import { type Figures, REFERENCE, ratiosOf } from "./figures.ts";

/** Everything that one run found out. */
export interface Report {
  readonly medians: Figures;
  readonly rounds: number;
  /** What each operator is built on, by its name. */
  readonly versions: ReadonlyMap<string, string>;
  /** Requests by phase and operator, as in the last round. */
  readonly requests: readonly (readonly [phase: string, operator: string, text: string])[];
  /** Operators that are not in the tables, or not in all rows, with the reason. */
  readonly missing: ReadonlyMap<string, string>;
}

const RATIOS = `## Ratios to ${REFERENCE}`;
const ENDLESS = "∞";

/** The body of the result, as Markdown. */
export function reportText({ medians, rounds, versions, requests, missing }: Report, workload: string): string {
  const names = [...medians.keys()];
  const ratios = ratiosOf(medians);
  const others = names.filter((name) => name !== REFERENCE && ratios.has(name));
  const ratioRows = [...(ratios.get(REFERENCE)?.keys() ?? [])].map((what) => [
    what,
    ...others.map((name) => ratioCell(ratios.get(name)?.get(what))),
  ]);
  // The last column makes the console compare the operators of each row.
  const medianRows = whatIsIn(medians).map((what) => [
    what,
    ...names.map((name) => figureCell(what, medians.get(name)?.get(what))),
    ratioCell(ratios.get("konverge")?.get(what)),
  ]);
  const sections = [
    workload,
    `${rounds === 1 ? "One round" : `Medians of ${rounds} rounds, in turns`}. ${names.map((name) => `${name}: ${versions.get(name)}`).join("; ")}.`,
    missing.size > 0 &&
      `Not measured:\n\n${[...missing].map(([name, why]) => `- ${name}: ${oneLine(why)}`).join("\n")}`,
    others.length > 0 &&
      `${RATIOS}\n\nLess is better. ${ENDLESS}: ${REFERENCE} has none.\n\n${table(["", ...others], ratioRows)}`,
    `## Medians\n\n\`ratio\`: konverge to ${REFERENCE}.\n\n${table(["", ...names, "ratio"], medianRows)}`,
    requests.length > 0 &&
      `## Requests\n\nAs the API server counts them, without those of the benchmark itself; reads include those of its observer.\n\n${table(["", "operator", "requests"], requests)}`,
  ];
  return sections.filter(Boolean).join("\n\n");
}

/** The ratios of a report, by operator. Throws if there are none. */
export function parseRatios(text: string): Figures {
  const [, after] = text.split(`${RATIOS}\n`);
  const lines = after
    ?.split("\n## ")[0]
    ?.split("\n")
    .filter((line) => line.startsWith("|"));
  const [head, , ...rows] = (lines ?? []).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  if (!head) throw new Error(`there is no table "${RATIOS.slice(3)}" to compare with: run npm run bench first`);
  return new Map(
    head.slice(1).map((name, i) => {
      const cells = rows.map((row) => [row[0]!, row[i + 1]!] as const).filter(([, cell]) => cell !== "");
      return [
        name,
        new Map(cells.map(([what, cell]) => [what, cell === ENDLESS ? Number.POSITIVE_INFINITY : Number(cell)])),
      ];
    }),
  );
}

/** All that was measured, in the order of the first operator that has it. */
function whatIsIn(figures: Figures): string[] {
  return [...new Set([...figures.values()].flatMap((values) => [...values.keys()]))];
}

function ratioCell(value: number | undefined): string {
  if (value === undefined) return "";
  return value === Number.POSITIVE_INFINITY ? ENDLESS : value.toFixed(2);
}

function figureCell(what: string, value: number | undefined): string {
  const digits = what.endsWith("MiB") || what.endsWith("writes") ? 0 : 2;
  return value?.toFixed(digits) ?? "";
}

function oneLine(text: string): string {
  return text.trim().split("\n").slice(0, 3).join(" ");
}
