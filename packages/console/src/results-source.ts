import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { BenchmarkResult, ResultTable } from "./protocol.ts";

/** Reads results of benchmarks: Markdown files with tables, or folders of such files. */
export async function loadResults(paths: readonly string[]): Promise<readonly BenchmarkResult[]> {
  const results: BenchmarkResult[] = [];
  for (const path of paths) {
    const isFolder = (await stat(path)).isDirectory();
    const names = isFolder ? (await readdir(path)).filter((name) => name.endsWith(".md")).sort() : [];
    const files = isFolder ? names.map((name) => join(path, name)) : [path];
    const read = await Promise.all(files.map(async (file) => resultOf(basename(file), await readFile(file, "utf8"))));
    const found = read.filter(({ parts }) => parts.some((part) => typeof part !== "string"));
    if (found.length === 0) throw new Error(`${path} has no table: name a Markdown file that a benchmark wrote`);
    results.push(...found);
  }
  return results;
}

/** The title, paragraphs and tables of a Markdown file. */
export function resultOf(file: string, markdown: string): BenchmarkResult {
  let title = file;
  const parts: (string | ResultTable)[] = [];
  for (const block of markdown.split(/\n\s*\n/).map((text) => text.trim())) {
    const [, heading] = /^# +(.+)/.exec(block) ?? [];
    if (heading !== undefined) title = plain(heading);
    else if (block.startsWith("|")) parts.push(tableOf(block));
    else if (block !== "") parts.push(plain(block));
  }
  return { file, title, parts };
}

function tableOf(block: string): ResultTable {
  const [head = [], , ...rows] = block.split("\n").map((line) => {
    const cells = line.trim().split(/(?<!\\)\|/);
    return cells.slice(1, -1).map((cell) => plain(cell.replaceAll("\\|", "|")));
  });
  return { head, rows };
}

/** Without the marks of Markdown, in one line. */
function plain(text: string): string {
  return text
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .replaceAll(/\*\*|`|^#+ +/gm, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}
