// `npm run api`: writes the API reference, docs/reference/api, from the declarations of the published packages, so that every
// change of the public API is visible in review.
// `npm run api -- --check`: fails unless the pages are current and the names keep the rules.
// `npm run api -- --count`: prints the number of values and types of each entry point; fails unless the names keep the rules.
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { declarationsOf } from "../../tools/api-docs/declarations.ts";
import { entryPoints, PAGES, pageOf, valuesOf } from "../../tools/api-docs/entry-points.ts";
import { isKindsEntry, kindsPage } from "../../tools/api-docs/kinds-page.ts";
import { indexText, linksOf, pageText } from "../../tools/api-docs/pages.ts";
import { memberProblems, namingProblems } from "../../tools/api-docs/rules.ts";
import { emit } from "./emit.ts";

const { values: options } = parseArgs({
  options: { check: { type: "boolean", default: false }, count: { type: "boolean", default: false } },
});

const all = entryPoints();
const problems = namingProblems(all);
if (options.count) {
  for (const one of all) {
    const values = valuesOf(one).length;
    console.log(`${one.specifier}: ${values} values, ${one.names.length - values} types`);
  }
} else {
  emit();
  const described = all.filter((one) => !isKindsEntry(one));
  const declarations = declarationsOf(described);
  for (const [{ specifier }, list] of declarations)
    for (const { name, members } of list) problems.push(...memberProblems(specifier, name, members));
  const links = linksOf(declarations);
  const pages = new Map([["README.md", indexText(all)]]);
  for (const one of all) {
    pages.set(
      pageOf(one.specifier),
      isKindsEntry(one) ? await kindsPage(one) : pageText(one, declarations.get(one)!, links),
    );
  }
  if (options.check) problems.push(...stalePages(pages));
  else writePages(pages);
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

function presentPages(): string[] {
  return globSync(join(PAGES, "*.md")).map((file) => basename(file));
}

function stalePages(pages: ReadonlyMap<string, string>): string[] {
  const names = new Set([...pages.keys(), ...presentPages()]);
  return [...names]
    .filter((name) => textOf(join(PAGES, name)) !== pages.get(name))
    .map((name) => `${join(PAGES, name)} is out of date: run \`npm run api\` and review what changed`);
}

function writePages(pages: ReadonlyMap<string, string>): void {
  mkdirSync(PAGES, { recursive: true });
  for (const name of presentPages()) if (!pages.has(name)) rmSync(join(PAGES, name));
  for (const [name, text] of pages) writeFileSync(join(PAGES, name), text);
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
