// Checks docs/decisions. `node scripts/docs/decisions.ts --write` writes the index, docs/decisions/README.md.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Details of one theme share a record; beyond this number, merge or remove some. */
export const MOST_RECORDS = 50;
/** One page: what does not fit belongs into a comment beside the code, or is a second decision. */
const MOST_LINES = 60;
const SECTIONS = ["Context", "Decision", "Consequences"];

/** What the top of a record says. */
export interface DecisionRecord {
  readonly file: string;
  readonly number: string;
  readonly title: string;
  readonly date: string;
  readonly status: string;
}

/** Reads the top of a record, or returns what is wrong with the record's form. */
export function readRecord(file: string, text: string): { record?: DecisionRecord; problems: string[] } {
  const head =
    /^# (\d{3}) (\S[^\n]*)\n\n- Date: (\d{4}-\d{2}-\d{2})\n- Status: (accepted|superseded by \d{3})\n\n/.exec(text);
  if (!head) {
    return { problems: [`${file}: must start with "# NNN Title", "- Date: YYYY-MM-DD" and "- Status: accepted"`] };
  }
  const [, number = "", title = "", date = "", status = ""] = head;
  const problems: string[] = [];
  if (!new RegExp(`^${number}-[a-z0-9-]+\\.md$`).test(file))
    problems.push(`${file}: the file name must start with ${number}-`);
  const sections = text.split(/^## /m).slice(1);
  const names = sections.map((section) => section.slice(0, section.indexOf("\n")));
  if (names.join() !== SECTIONS.join()) {
    problems.push(`${file}: has the sections ${names.join(", ") || "none"}: expected ${SECTIONS.join(", ")}`);
  }
  for (const [i, section] of sections.entries()) {
    if (section.slice(names[i]!.length).trim() === "") problems.push(`${file}: the section ${names[i]} is empty`);
  }
  const lines = text.trimEnd().split("\n").length;
  if (lines > MOST_LINES) problems.push(`${file}: has ${lines} lines: at most ${MOST_LINES} fit on a page`);
  return { record: { file, number, title, date, status }, problems };
}

/** The index of all records, as docs/decisions/README.md has it. */
export function indexOf(records: readonly DecisionRecord[]): string {
  const rows = records.map(
    ({ number, file, title, date, status }) => `| [${number}](${file}) | ${title} | ${date} | ${status} |\n`,
  );
  return `# Decisions

Why things are as they are. Each record fits on a page and has the same form: Context, Decision, Consequences, including what was
tried and did not pay. The date is the day of the last change in substance. There are at most ${MOST_RECORDS}: a detail of a theme
goes into the theme's record, a decision that no longer matters is removed. This index is generated:
\`node scripts/docs/decisions.ts --write\`.

| | decision | date | status |
|---|---|---|---|
${rows.join("")}`;
}

/** Mentions of records in a text (\`decisions/NNN-title.md\`, "decision NNN") that lead to none of these. */
export function brokenReferences(text: string, records: readonly DecisionRecord[]): string[] {
  const files = new Set(records.map(({ file }) => file));
  const numbers = new Set(records.map(({ number }) => number));
  const paths = [...text.matchAll(/decisions\/(\d{3}[a-z0-9-]*(?:\.md)?)/g)].filter(([, file]) => !files.has(file!));
  const mentions = [...text.matchAll(/[Dd]ecisions? (\d{3})\b/g)].filter(([, number]) => !numbers.has(number!));
  return [...paths, ...mentions].map(([mention]) => mention);
}

/** All problems of the records in a folder. */
export function checkFolder(folder: string): { records: DecisionRecord[]; problems: string[] } {
  const files = globSync("*.md", { cwd: folder })
    .filter((file) => file !== "README.md")
    .sort();
  const read = files.map((file) => ({ file, text: readFileSync(join(folder, file), "utf8") }));
  const results = read.map(({ file, text }) => readRecord(file, text));
  const records = results.flatMap(({ record }) => record ?? []);
  const problems = results.flatMap((result) => result.problems);
  for (const [i, { file, number }] of records.entries()) {
    const expected = String(i + 1).padStart(3, "0");
    if (number !== expected) problems.push(`${file}: is number ${number}, but ${expected} is next`);
  }
  for (const { file, text } of read) {
    for (const mention of brokenReferences(text, records)) problems.push(`${file}: "${mention}" does not exist`);
  }
  if (records.length > MOST_RECORDS) problems.push(`${records.length} records: at most ${MOST_RECORDS} are allowed`);
  return { records, problems };
}

if (import.meta.main) {
  const { records, problems } = checkFolder("docs/decisions");
  if (process.argv.includes("--write")) writeFileSync("docs/decisions/README.md", indexOf(records));
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
