// The order of the site, from docs/README.md: its headings of level two are the sections, those of level three their groups, and
// its lists have the pages.
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { titleOf } from "./markdown.ts";

/** The file that has the order. */
export const NAVIGATION = "docs/README.md";

/** A Markdown file or the folder of an example. */
export interface NavigationPage {
  readonly title: string;
  /** From the root of the repository. */
  readonly path: string;
}

/** Pages below one heading; those before the first heading of a section have none. */
export interface NavigationGroup {
  readonly title?: string;
  readonly pages: NavigationPage[];
}

/** An entry of the menu. */
export interface NavigationSection {
  readonly title: string;
  readonly groups: NavigationGroup[];
}

/** Reads the order. A link to a folder stands for the pages in it, in the order in which its README.md links them. */
export function readNavigation(root: string): { sections: NavigationSection[]; problems: string[] } {
  const sections: { title: string; groups: { title?: string; pages: NavigationPage[] }[] }[] = [];
  const problems: string[] = [];
  const listed = new Set<string>();
  const lines = readFileSync(join(root, NAVIGATION), "utf8").split("\n");
  for (const [i, line] of lines.entries()) {
    const where = `${NAVIGATION}:${i + 1}`;
    const [, hashes, heading] = /^(#{2,3}) (.+)$/.exec(line) ?? [];
    if (hashes === "##") sections.push({ title: heading!, groups: [] });
    else if (hashes === "###") sections.at(-1)?.groups.push({ title: heading!, pages: [] });
    if (!/^\s*[-*] /.test(line)) continue;
    const [, title, target] = /^- \[([^\]]+)\]\(([^()#]+)\)/.exec(line) ?? [];
    const section = sections.at(-1);
    if (!title || !target || !section) {
      problems.push(`${where}: is not "- [Title](file.md)" below a heading of level two`);
      continue;
    }
    const path = posix.join(posix.dirname(NAVIGATION), target).replace(/\/$/, "");
    const pages = pagesAt(root, path, title);
    if (pages.length === 0) problems.push(`${where}: ${path} has no page: name a Markdown file, or a folder with some`);
    for (const page of pages) {
      if (listed.has(page.path)) problems.push(`${where}: ${page.path} is listed twice`);
      listed.add(page.path);
    }
    if (section.groups.length === 0) section.groups.push({ pages: [] });
    section.groups.at(-1)!.pages.push(...pages);
  }
  return { sections, problems };
}

function pagesAt(root: string, path: string, title: string): NavigationPage[] {
  if (!existsSync(join(root, path))) return [];
  if (statSync(join(root, path)).isFile()) return path.endsWith(".md") ? [{ title, path }] : [];
  const examples = globSync("[0-9]*/", { cwd: join(root, path) }).map((name) => posix.join(path, name));
  if (examples.length > 0) {
    const start = existsSync(join(root, path, "README.md")) ? `${path}/README.md` : path;
    return [
      { title, path: start },
      ...examples.sort().map((folder) => ({ title: exampleTitle(folder), path: folder })),
    ];
  }
  const files = globSync("*.md", { cwd: join(root, path) }).sort();
  const start = files.filter((file) => file === "README.md").map((file) => ({ title, path: `${path}/${file}` }));
  const index = start[0] ? readFileSync(join(root, start[0].path), "utf8") : "";
  const rank = (file: string) => index.indexOf(`](${file})`) + 1 || index.length + 1;
  const others = files
    .filter((file) => file !== "README.md")
    .sort((a, b) => rank(a) - rank(b))
    .map((file) => `${path}/${file}`);
  return [
    ...start,
    ...others.map((file) => ({ title: titleOf(readFileSync(join(root, file), "utf8")) ?? file, path: file })),
  ];
}

/** `examples/01-field-changes`: 01 Field changes. */
export function exampleTitle(folder: string): string {
  const [, number = "", name = ""] = /^(\d+)-(.*)$/.exec(posix.basename(folder)) ?? [];
  const words = name.replaceAll("-", " ").replaceAll(/\b(?:api|crd|rbac)\b/g, (word) => word.toUpperCase());
  return `${number} ${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
