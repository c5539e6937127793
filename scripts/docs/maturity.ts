// The tables "Maturity" of the operators: levels of the Operator Framework, each line with the tests that show it.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export const LEVELS = ["Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights", "Auto Pilot"] as const;

const SUITE = join(import.meta.dirname, "../../tools/operator-suite");
/** Functions that declare tests, whose first argument is the title. */
const DECLARES = String.raw`\b(?:test|onEmbedded|withPostgres|survives\w+|repairsChildren)\(\s*`;

/** A line of a table: a level, the kinds that it is about (none: all), and links to the tests that show it. */
interface Row {
  readonly level: number;
  readonly kinds: readonly string[];
  readonly links: readonly { readonly title: string; readonly path: string }[];
}

/** Everything that is wrong with the section "Maturity" of a page: nothing, if each claim names tests that exist. */
export function maturityProblems(page: string, folder: string): string[] {
  const section = /^## Maturity\n(.*?)(?=^## )/ms.exec(page)?.[1];
  if (!section) return ["there is no section Maturity"];
  const problems: string[] = [];
  const rows = rowsOf(section, problems);
  for (const { links } of rows) {
    for (const { title, path } of links) {
      const file = join(folder, path);
      if (!path.endsWith(".test.ts") || !existsSync(file)) problems.push(`${path} is no test file`);
      else if (!hasTest(file, title)) problems.push(`${path} has no test "${title}"`);
    }
  }
  const grades = [...section.matchAll(/^- \*\*(.+?)\*\*: level ([1-5]), ([\w ]+)[.;]/gm)];
  if (grades.length === 0) problems.push("no kind has a level: `- **Kind**: level 3, Full Lifecycle.`");
  for (const [, kind = "", grade, name] of grades) {
    if (name !== LEVELS[Number(grade) - 1]) problems.push(`${kind}: level ${grade} is not ${name}`);
    for (let level = 1; level <= Number(grade); level++) {
      const isShown = rows.some((row) => row.level === level && (row.kinds.length === 0 || row.kinds.includes(kind)));
      if (!isShown) problems.push(`${kind}: no line of level ${level}`);
    }
  }
  const graded = new Set(grades.map(([, kind]) => kind));
  for (const kind of rows.flatMap(({ kinds }) => kinds)) if (!graded.has(kind)) problems.push(`${kind} has no level`);
  return problems;
}

function rowsOf(section: string, problems: string[]): Row[] {
  const [header = [], ...lines] = [...section.matchAll(/^\| (.*) \|$/gm)].map(([, line]) => line!.split(" | "));
  const kindsAt = header.indexOf("kinds");
  return lines.map((cells) => {
    const level = Number(cells[0]?.[0]);
    if (cells[0] !== `${level} ${LEVELS[level - 1]}`) problems.push(`${cells[0]} is no level`);
    const links = [...cells.at(-1)!.matchAll(/\[(.+?)\]\(([^)]+)\)/g)].map(([, title, path]) => ({
      title: title!,
      path: path!,
    }));
    if (links.length === 0) problems.push(`no test shows it: ${cells.join(" | ")}`);
    const kinds = kindsAt < 0 || cells[kindsAt] === "all" ? [] : cells[kindsAt]!.split(", ");
    return { level, kinds, links };
  });
}

/** Whether a test file declares a test of this title: itself, by a scenario that it imports, or by a function of the suite. */
function hasTest(file: string, title: string): boolean {
  const text = readFileSync(file, "utf8");
  const imported = [...text.matchAll(/from "(\.\.?\/[^"]+)"/g)].map(([, path]) => join(dirname(file), path!));
  const suite = [
    ...(text.includes("monitoringIsTrue(") ? ["monitoring.ts"] : []),
    ...(/\b(exactRole|role:)/.test(text) ? ["declare.ts"] : []),
  ];
  const sources = [
    text,
    ...[...imported, ...suite.map((name) => join(SUITE, name))].map((one) => readFileSync(one, "utf8")),
  ];
  return sources.some((source) => titlesIn(source).some((one) => one.test(title)));
}

/** Titles of tests in a source, as patterns: parts of template strings stand for anything. */
function titlesIn(source: string): RegExp[] {
  const found = [
    ...source.matchAll(new RegExp(`${DECLARES}(["\`])(.*?)\\1,`, "g")),
    // Scenarios by title, for tests that declare them that way.
    ...source.matchAll(/^\s+(")([^"]+)":\s*[\w(]/gm),
  ];
  return found.map(([, , text]) => {
    const parts = text!.split(/\$\{.*?\}/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return new RegExp(`^${parts.join(".+")}$`);
  });
}
