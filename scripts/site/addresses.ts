// Where a file of the repository is on the site: pages keep their paths, without `docs/`; everything else that pages link to is
// shown below `source/`.
import { posix } from "node:path";

/** What decides about an address. */
export interface RepositoryPath {
  /** From the root of the repository. */
  readonly path: string;
  readonly folder: boolean;
}

/**
 * The repository path that is shown for a link, and the Markdown file that it becomes. `listed` has the paths of all pages in
 * the navigation. Undefined for a Markdown file that is not listed.
 */
export function addressOf(
  { path, folder }: RepositoryPath,
  listed: ReadonlySet<string>,
): { shown: string; file: string } | undefined {
  if (listed.has(path)) return { shown: path, file: listedFile(path, folder) };
  if (folder) {
    const readme = posix.join(path, "README.md");
    if (listed.has(readme)) return { shown: readme, file: listedFile(readme, false) };
    const hasPages = [...listed].some((page) => posix.dirname(page) === path);
    return { shown: path, file: hasPages ? `${withoutDocs(path)}/index.md` : `source/${path}/index.md` };
  }
  const parent = posix.dirname(path);
  if (listed.has(parent) && isExample(parent)) return { shown: parent, file: listedFile(parent, true) };
  return path.endsWith(".md") ? undefined : { shown: path, file: `source/${path}.md` };
}

/** Whether a folder is shown as one page, with the files in it. */
export const isExample = (folder: string): boolean => /^\d+-/.test(posix.basename(folder));

/** The address of a page's file, as links have it. */
export const linkTo = (file: string): string => `/${file.replace(/(^|\/)index\.md$/, "$1")}`;

function listedFile(path: string, folder: boolean): string {
  if (folder) return isExample(path) ? `${path}.md` : `${path}/index.md`;
  const place = withoutDocs(posix.dirname(path));
  const name = posix.basename(path);
  if (name === "README.md" && place !== ".") return posix.join(place, "index.md");
  return posix.join(place, name.toLowerCase());
}

const withoutDocs = (path: string) => path.replace(/^docs(\/|$)/, "") || ".";
