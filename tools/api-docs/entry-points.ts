/**
 * The entry points of the published packages, read from their sources. Each is a file of explicit export lists, so what it
 * exports, and whether that is a value or only a type, can be read off without a type checker.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path/posix";
import ts from "typescript";
import { type Manifest, manifestIn, modulesOf, published } from "../../scripts/release/layout.ts";

/** A name that an entry point exports. */
export interface ExportedName {
  readonly name: string;
  /** Exported with `type`: it exists for the compiler alone. */
  readonly isType: boolean;
  /** Where it comes from, and what it is called there: two names with the same origin are one thing. */
  readonly origin: string;
}

/** A module that users import. */
export interface EntryPoint {
  /** `konverge`, `konverge/client` … */
  readonly specifier: string;
  readonly file: string;
  /** What its source says about it. */
  readonly comment: string;
  readonly names: readonly ExportedName[];
}

/** Packages whose entry points are documented: `@konverge/operators` has kinds and operators, no API. */
const documented = published.filter(({ folder }) => folder.startsWith("packages/"));

/** All entry points of the published packages, in the order of their manifests. */
export function entryPoints(): EntryPoint[] {
  return documented.flatMap(({ folder }) => {
    const { name }: Manifest = manifestIn(folder);
    return [...modulesOf(folder)].map(([subpath, file]) => readEntryPoint(`${name}${subpath}`, file));
  });
}

function readEntryPoint(specifier: string, file: string): EntryPoint {
  const text = readFileSync(file, "utf8");
  return { specifier, file, ...exportsIn(text, file) };
}

/** The export lists of a module and the comment at its beginning. Throws at anything that is not an explicit list. */
export function exportsIn(text: string, file: string): Pick<EntryPoint, "comment" | "names"> {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const names: ExportedName[] = [];
  for (const statement of source.statements) {
    const clause = ts.isExportDeclaration(statement) ? statement.exportClause : undefined;
    if (!ts.isExportDeclaration(statement) || !clause || !ts.isNamedExports(clause) || !statement.moduleSpecifier)
      throw new Error(`${file}: an entry point has only lists, \`export { … } from "…"\`: ${firstLine(statement)}`);
    const module = (statement.moduleSpecifier as ts.StringLiteral).text;
    for (const { name, propertyName, isTypeOnly } of clause.elements) {
      const origin = `${module} ${(propertyName ?? name).text}`;
      names.push({ name: name.text, isType: statement.isTypeOnly || isTypeOnly, origin });
    }
  }
  return { comment: leadingComment(text), names };
}

const firstLine = (node: ts.Node) => node.getText().split("\n")[0];

function leadingComment(text: string): string {
  const [, comment = ""] = /^\/\*\*\n([\s\S]*?)\n \*\//.exec(text) ?? [];
  return comment.replace(/^ \* ?/gm, "");
}

/** What exists when a program runs. */
export function valuesOf(entryPoint: EntryPoint | undefined): readonly ExportedName[] {
  return entryPoint?.names.filter(({ isType }) => !isType) ?? [];
}

/** The page of an entry point: `konverge/client` is described in `konverge-client.md`. */
export function pageOf(specifier: string): string {
  return `${specifier.replace("@konverge/", "").replaceAll("/", "-")}.md`;
}

/** Where pages are kept. */
export const PAGES = join("docs", "reference", "api");
