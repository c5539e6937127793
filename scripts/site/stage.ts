// Puts the pages of the site together from the files of the repository, as Markdown that VitePress builds. Links lead to other
// pages, or to the sources that they name, which become pages too: the site works wherever it is served, without the repository.
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { addressOf, isExample, linkTo } from "./addresses.ts";
import { anchorsOf, replaceLinks, sectionOf, showFileNames } from "./markdown.ts";
import { NAVIGATION, type NavigationSection, readNavigation } from "./navigation.ts";
import { examplePage, filePage, folderPage } from "./source-pages.ts";

/** The page that visitors see first. */
const LANDING = "docs/site/index.md";
/** Generated pages whose code is declarations with comments. */
const DECLARATIONS = "docs/reference/api/";
const PICTURE = /\.(?:svg|png|jpg|gif|webp)$/;

/** Everything that VitePress gets. */
export interface StagedSite {
  /** Markdown by file name. */
  readonly pages: ReadonlyMap<string, string>;
  /** Files of the repository that are served as they are. */
  readonly pictures: ReadonlySet<string>;
  readonly sections: readonly StagedSection[];
  /** What has to be repaired, each with the file and line. */
  readonly problems: readonly string[];
}

/** A section of the navigation, with the addresses of its pages. */
export interface StagedSection {
  readonly title: string;
  readonly groups: readonly { readonly title?: string; readonly pages: readonly { title: string; link: string }[] }[];
}

export function stageSite(root: string): StagedSite {
  const { sections, problems } = readNavigation(root);
  const listed = new Set(
    sections.flatMap(({ groups }) => groups.flatMap(({ pages }) => pages.map(({ path }) => path))),
  );
  const pages = new Map<string, string>();
  const pictures = new Set<string>();
  const waiting: { shown: string; file: string }[] = [];

  /** The address of a path of the repository; its page is made, too. */
  const visit = (path: string): string | undefined => {
    if (["docs", NAVIGATION, LANDING].includes(path)) return "/";
    const address = addressOf({ path, folder: isFolder(root, path) }, listed);
    if (!address) return undefined;
    if (!pages.has(address.file)) {
      pages.set(address.file, "");
      waiting.push(address);
    }
    return linkTo(address.file);
  };

  const resolve = (target: string, from: string, line: number): string => {
    if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return target;
    const [, name = "", hash = ""] = /^([^#]*)(#.*)?$/.exec(target) ?? [];
    const path = name === "" ? from : pathOf(name, isFolder(root, from) ? from : posix.dirname(from));
    if (path.startsWith("..") || !existsSync(join(root, path))) {
      problems.push(`${from}:${line}: ${target} does not exist`);
      return target;
    }
    const anchors = hash !== "" && path.endsWith(".md") ? anchorsOf(readFileSync(join(root, path), "utf8")) : undefined;
    if (anchors && !anchors.has(decodeURIComponent(hash.slice(1)))) {
      problems.push(`${from}:${line}: ${target}: no heading has this anchor`);
    }
    if (name === "") return target;
    if (PICTURE.test(path)) {
      pictures.add(path);
      return `/${path}`;
    }
    const address = visit(path);
    if (address === undefined)
      problems.push(`${from}:${line}: links to ${path}, which is not in ${NAVIGATION}: add it there`);
    return (address ?? target) + hash;
  };

  const rendered = (markdown: string, from: string) => {
    const linked = replaceLinks(markdown, (target, line) => resolve(target, from, line));
    return from.endsWith(".md") || isFolder(root, from) ? showFileNames(linked) : linked;
  };

  pages.set("index.md", landingPage(root, rendered, resolve, problems));
  const staged = sections.map((section) => stagedSection(section, visit));
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    pages.set(next.file, rendered(contentOf(root, next.shown, listed), next.shown));
  }
  for (const file of documentsOf(root).filter((path) => !listed.has(path))) {
    problems.push(`${file}: is not in ${NAVIGATION}: add it there`);
  }
  return { pages, pictures, sections: staged, problems: [...new Set(problems)] };
}

/** The documents that belong on the site. */
function documentsOf(root: string): string[] {
  const exclude = (path: string) => /(?:^|\/)(?:node_modules|dist|generated)$|^docs\/site$/.test(path);
  const documents = globSync("{bench,docs,operators}/**/*.md", { cwd: root, exclude });
  return documents.filter((path) => path !== NAVIGATION).sort();
}

function stagedSection(section: NavigationSection, visit: (path: string) => string | undefined): StagedSection {
  const groups = section.groups.map(({ title, pages }) => ({
    title,
    pages: pages.map((page) => ({ title: page.title, link: visit(page.path)! })),
  }));
  return { title: section.title, groups };
}

function contentOf(root: string, path: string, listed: ReadonlySet<string>): string {
  if (isFolder(root, path)) return isExample(path) ? examplePage(root, path) : folderPage(root, path, listed);
  if (!path.endsWith(".md")) return filePage(root, path, listed);
  const text = readFileSync(join(root, path), "utf8");
  return path.startsWith(DECLARATIONS) ? `---\npageClass: api-page\n---\n\n${text}` : text;
}

/** In the landing page, `<!-- README.md#anchor -->` stands for a section, and `link: docs/page.md` in its head for an address. */
function landingPage(
  root: string,
  rendered: (markdown: string, from: string) => string,
  resolve: (target: string, from: string, line: number) => string,
  problems: string[],
): string {
  const [, head = "", body = ""] =
    /^(---\n[\s\S]*?\n---\n)([\s\S]*)$/.exec(readFileSync(join(root, LANDING), "utf8")) ?? [];
  const links = head.replaceAll(/^(\s+link: )(\S+)$/gm, (_, before, path) => before + resolve(`/${path}`, LANDING, 1));
  const parts = rendered(body, LANDING).replaceAll(/^<!-- (\S+\.md)#(\S+) -->$/gm, (mark, file, anchor) => {
    const section = sectionOf(readFileSync(join(root, file), "utf8"), anchor);
    if (section === undefined) problems.push(`${LANDING}: ${file} has no section #${anchor}`);
    return section === undefined ? mark : rendered(section, file);
  });
  return links + parts;
}

/** A link's path, from the root of the repository. */
function pathOf(name: string, base: string): string {
  return (name.startsWith("/") ? posix.normalize(name.slice(1)) : posix.join(base, name)).replace(/\/$/, "");
}

function isFolder(root: string, path: string): boolean {
  return statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() ?? false;
}
