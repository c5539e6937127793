import type { Declaration, DeclarationKind } from "./declarations.ts";
import { type EntryPoint, pageOf, valuesOf } from "./entry-points.ts";

const SECTIONS: readonly [kind: DeclarationKind, title: string][] = [
  ["function", "Functions"],
  ["class", "Classes"],
  ["constant", "Constants"],
  ["type", "Types"],
];

/** Where each exported name is described. */
export type Links = ReadonlyMap<string, string>;

/** The declarations of an entry point in the order of its page. */
function sectionsOf(declarations: readonly Declaration[]): [title: string, some: Declaration[]][] {
  return SECTIONS.map(([kind, title]) => {
    const some = declarations.filter((one) => one.kind === kind);
    return [title, some.sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1))];
  });
}

export function linksOf(declarations: ReadonlyMap<EntryPoint, readonly Declaration[]>): Links {
  const links = new Map<string, string>();
  for (const [{ specifier }, list] of declarations) {
    // As GitHub numbers the anchors of headings that differ in case alone: `ownedKind` and `OwnedKind`.
    const counts = new Map<string, number>();
    for (const { name } of sectionsOf(list).flatMap(([, some]) => some)) {
      const anchor = name.toLowerCase();
      const count = counts.get(anchor) ?? 0;
      counts.set(anchor, count + 1);
      links.set(name, `${pageOf(specifier)}#${anchor}${count === 0 ? "" : `-${count}`}`);
    }
  }
  return links;
}

/** The page of an entry point. */
export function pageText(entryPoint: EntryPoint, declarations: readonly Declaration[], links: Links): string {
  const { specifier, comment } = entryPoint;
  const lines = [`# ${specifier}`, "", linked(comment, specifier, links), ""];
  for (const [title, some] of sectionsOf(declarations)) {
    if (some.length === 0) continue;
    lines.push(`## ${title}`, "", "| name | |", "|---|---|");
    for (const one of some) {
      const about = cell(linked(firstSentence(one.comment), specifier, links));
      lines.push(`| [${one.name}](${linkTo(one.name, specifier, links)}) | ${about} |`);
    }
    for (const one of some) lines.push("", ...section(one, specifier, links));
    lines.push("");
  }
  return `${lines.join("\n").trimEnd()}\n`;
}

function section(declaration: Declaration, specifier: string, links: Links): string[] {
  const { name, comment, text, mentions } = declaration;
  const lines = [`### ${name}`, ""];
  if (comment !== "") lines.push(linked(comment, specifier, links), "");
  lines.push("```ts", text.trim(), "```");
  const known = mentions.filter((one) => links.has(one)).sort();
  if (known.length > 0) {
    lines.push("", `Related: ${known.map((one) => `[${one}](${linkTo(one, specifier, links)})`).join(", ")}.`);
  }
  return lines;
}

function linkTo(name: string, specifier: string, links: Links): string {
  const link = links.get(name)!;
  const page = pageOf(specifier);
  return link.startsWith(`${page}#`) ? link.slice(page.length) : link;
}

/** `{@link name}` as a link where the name is exported, else as code. */
export function linked(comment: string, specifier: string, links: Links): string {
  return comment.replace(/\{@link\s+([\w.$]+)\}/g, (_, name: string) =>
    links.has(name) ? `[${name}](${linkTo(name, specifier, links)})` : `\`${name}\``,
  );
}

/** Up to the first full stop. */
export function firstSentence(comment: string): string {
  const [paragraph = ""] = comment.split(/\n\s*\n|\n\s{4,}|```/);
  const flat = paragraph.replace(/\s+/g, " ").trim();
  const [sentence] = /^.*?\.(?= [A-Z`{[]|$)/.exec(flat) ?? [flat];
  return sentence.replace(/:$/, ".");
}

const cell = (text: string) => text.replaceAll("|", "\\|");

/** The page that lists all entry points. */
export function indexText(entryPoints: readonly EntryPoint[]): string {
  const rows = entryPoints.map((one) => {
    const values = valuesOf(one).length;
    const counts = `${values} | ${one.names.length - values}`;
    return `| [${one.specifier}](${pageOf(one.specifier)}) | ${cell(firstSentence(one.comment).replace(/\{@link (\w+)\}/g, "`$1`"))} | ${counts} |`;
  });
  return [
    "# API",
    "",
    "The entry points of the published packages. Every name has exactly one of them. What packages export below `internal` is",
    "for packages of the same version and may change without notice.",
    "",
    "| entry point | | values | types |",
    "|---|---|---|---|",
    ...rows,
    "",
    "Generated from the declarations and their comments by `npm run api`.",
    "",
  ].join("\n");
}
