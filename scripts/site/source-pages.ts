// Pages for what is not Markdown: examples, and the files and folders that other pages link to.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { isExample } from "./addresses.ts";
import { fenced, titleOf } from "./markdown.ts";
import { exampleTitle } from "./navigation.ts";

const LANGUAGES: Readonly<Record<string, string>> = {
  go: "go",
  js: "js",
  json: "json",
  mjs: "js",
  py: "python",
  rs: "rust",
  sh: "sh",
  sql: "sql",
  toml: "toml",
  ts: "ts",
  yaml: "yaml",
};

/** A file, as it is. Links in these pages begin at the root of the repository. */
export function filePage(root: string, file: string, listed: ReadonlySet<string>): string {
  const language = LANGUAGES[posix.extname(file).slice(1)] ?? "text";
  const source = fenced(`${language}:line-numbers`, readFileSync(join(root, file), "utf8"));
  return `---\naside: false\npageClass: source-page\n---\n\n# ${posix.basename(file)}\n\n${placeOf(root, file, listed)}\n\n${source}\n`;
}

/** The pages, files and folders in a folder. */
export function folderPage(root: string, folder: string, listed: ReadonlySet<string>): string {
  const entries = readdirSync(join(root, folder), { withFileTypes: true })
    .filter(({ name }) => !name.startsWith(".") && name !== "node_modules" && name !== "dist")
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const rows = entries.map((entry) => {
    const path = posix.join(folder, entry.name);
    if (entry.isDirectory()) return isExample(path) ? exampleRow(root, path) : `- [${entry.name}/](/${path})`;
    const title = entry.name.endsWith(".md") ? titleOf(readFileSync(join(root, path), "utf8")) : undefined;
    return `- [${title ?? entry.name}](/${path})`;
  });
  const name = posix.basename(folder);
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  const place = listed.has(folder) ? "" : `${placeOf(root, folder, listed)}\n\n`;
  return `---\naside: false\n---\n\n# ${title}\n\n${place}${rows.join("\n")}\n`;
}

/** An example: its README or the comment at the top of its main file, and its files. */
export function examplePage(root: string, folder: string): string {
  const { readme, main, comment } = exampleParts(root, folder);
  const files = readdirSync(join(root, folder))
    .filter((name) => name !== "README.md")
    .sort((a, b) => Number(b === main) - Number(a === main) || (a < b ? -1 : 1));
  const sources = files.map((name) => {
    const language = LANGUAGES[posix.extname(name).slice(1)] ?? "text";
    const text = readFileSync(join(root, folder, name), "utf8");
    const shown = name === main && readme === undefined ? text.slice(comment.length).trimStart() : text;
    return `## ${name}\n\n${fenced(language, shown)}\n`;
  });
  const introduction = readme ?? `# ${exampleTitle(folder)}\n\n${proseOf(comment)}`;
  return `${introduction}\n\n${sources.join("\n")}`;
}

function exampleRow(root: string, folder: string): string {
  const { readme, comment } = exampleParts(root, folder);
  const text = readme === undefined ? proseOf(comment) : "";
  return `- [${exampleTitle(folder)}](/${folder})${text && `: ${text}`}`;
}

/** The main file of `03-cleanup` is `cleanup.ts`. */
function exampleParts(root: string, folder: string) {
  const main = `${posix.basename(folder).replace(/^\d+-/, "")}.ts`;
  const readme = join(root, folder, "README.md");
  const text = existsSync(join(root, folder, main)) ? readFileSync(join(root, folder, main), "utf8") : "";
  return {
    readme: existsSync(readme) ? readFileSync(readme, "utf8") : undefined,
    main,
    comment: /^(?:\/\/.*\n)*/.exec(text)![0],
  };
}

const proseOf = (comment: string) =>
  comment
    .replaceAll(/^\/\/ ?/gm, "")
    .replaceAll("\n", " ")
    .trim();

/** Where a file is, with a link to the nearest page above it. */
function placeOf(root: string, path: string, listed: ReadonlySet<string>): string {
  for (let above = posix.dirname(path); above !== "."; above = posix.dirname(above)) {
    const readme = `${above}/README.md`;
    if (!listed.has(readme)) continue;
    return `\`${path}\`, part of [${titleOf(readFileSync(join(root, readme), "utf8")) ?? above}](/${readme})`;
  }
  return `\`${path}\``;
}
