// Checks the words of documentation and code: Markdown prose, messages, comments, names and test titles of sources, manifests and scripts.
//
//   node scripts/docs/words.ts              checks the enforced files; part of `npm run check`
//   node scripts/docs/words.ts FILE…        lists the findings of these files
//   node scripts/docs/words.ts --all        counts the findings of all other files, by folder
//   node scripts/docs/words.ts --code       counts the findings in comments, names and test titles of all sources, by folder
//
// What to write instead is in word-list.ts, what may stay in word-exceptions.ts.
import { globSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import { sourceParts } from "./source-parts.ts";
import { EXCEPTIONS, type WordException } from "./word-exceptions.ts";
import { COMMENT_WORDS, NAME_WORDS, type Replacement, SPELLINGS, WORDS } from "./word-list.ts";

/** Files that must have no finding. */
const ENFORCED = [
  "*.md",
  "bench/**/*.md",
  "docs/*.md",
  "docs/{decisions,guide,reference}/*.md",
  "docs/site/index.md",
  "{examples,operators,packages}/**/*.md",
  "examples/*/*.{ts,yaml}",
  "{packages,operators}/*/src/**/*.ts",
  "operators/*/{monitoring,samples,scripts}/*.{yaml,sh}",
  "config/**/*.yaml",
];
/** Sources whose comments, names and test titles must have no finding. */
const ENFORCED_CODE: readonly string[] = [
  "packages/{apiserver,certificates,client,cluster,console,core,declarative,dev,kinds,linux-node,schema,sizing}/**/*.{ts,tsx}",
  "operators/{all,database,kubeflow,llm,seldon,training}/**/*.ts",
  "{bench,examples,tools}/**/*.ts",
];
const CODE = ["{packages,operators,tools,examples,bench,scripts}/**/*.{ts,tsx}"];
/** Files that users read, and sources whose messages they read. */
const ALL = [...ENFORCED, "{docs,tools}/**/*.md", "tools/**/*.ts"];
/** Tests, and data that a real API server or a generator has written. */
const SKIPPED = /node_modules|\/dist\/|\/generated\/|\/corpus\/|\/observed\/|\.test\.ts$/;

/** An expression that should be replaced. */
export interface WordFinding {
  readonly line: number;
  readonly found: string;
  readonly instead: string;
  /** The whole line, for exceptions. */
  readonly text: string;
}

/** The findings in a Markdown document: in its prose, not in code and addresses. */
export function markdownFindings(markdown: string): WordFinding[] {
  const lines = markdown.split("\n");
  return proseLines(markdown).flatMap((prose, i) => findingsIn(prose, i + 1, lines[i]!));
}

/** The findings in the string literals of a source that consist of several words; a single one is a name. */
export function sourceFindings(source: string): WordFinding[] {
  return sourceParts(source).literals.flatMap(({ line, text }) =>
    text.split("\n").flatMap((part, i) => (/\s/.test(part.trim()) ? findingsIn(part, line + i, part) : [])),
  );
}

/** The findings in the comments, names and test titles of a source. */
export function codeFindings(source: string): WordFinding[] {
  const lines = source.split("\n");
  const { literals, comments, names } = sourceParts(source);
  const titles = literals.filter(({ line }) => /^\s*(?:test|describe|it)(?:\.\w+)?\(/.test(lines[line - 1] ?? ""));
  const inProse = [...comments, ...titles].flatMap(({ line, text }) =>
    text
      .split("\n")
      .flatMap((part, i) =>
        findingsIn(part.replaceAll(/`[^`]*`/g, "…"), line + i, part, [...WORDS, ...SPELLINGS, ...COMMENT_WORDS]),
      ),
  );
  const inNames = names.flatMap(({ line, text }) =>
    wordsOf(text).flatMap((word) => {
      const instead = NAME_WORDS.get(word);
      return instead === undefined ? [] : [{ line, found: text, instead, text: lines[line - 1]! }];
    }),
  );
  return [...inProse, ...inNames];
}

/** `isWishOf` consists of `is`, `wish` and `of`. */
const wordsOf = (name: string) => name.split(/_|(?<=[a-z0-9])(?=[A-Z])/).map((word) => word.toLowerCase());

/** The findings in a manifest or a script, where comments, descriptions and messages are everywhere. */
export function plainFindings(text: string): WordFinding[] {
  return text.split("\n").flatMap((line, i) => findingsIn(line, i + 1, line));
}

/** The lines of a document, with everything that is not prose blanked out: code, addresses, links that are named like their file. */
function proseLines(markdown: string): string[] {
  let fence: string | undefined;
  return markdown.split("\n").map((line) => {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined;
      return "";
    }
    if (mark !== undefined) {
      fence = mark;
      return "";
    }
    if (/^ {4,}\S/.test(line) && !/^\s+(?:[-*]|\d+\.) /.test(line)) return "";
    return line
      .replaceAll(/(`+)(?:(?!\1).)+\1/g, "…")
      .replaceAll(/\]\([^)]*\)/g, "]")
      .replaceAll(/\[[^\]\s]*\.\w+\]/g, "…")
      .replaceAll(/<!--.*?-->|https?:\S+/g, "…");
  });
}

function findingsIn(prose: string, line: number, text: string, words = [...WORDS, ...SPELLINGS]): WordFinding[] {
  const matches = ({ pattern, instead }: Replacement) =>
    [...prose.matchAll(pattern)].map(([found]) => ({ line, found, instead, text }));
  return words.flatMap(matches);
}

/** Leaves out what an exception names, and counts how often each exception was used. */
export function unexcused(
  file: string,
  findings: readonly WordFinding[],
  exceptions: readonly WordException[],
  used: Set<WordException> = new Set(),
): WordFinding[] {
  return findings.filter(({ text, found }) => {
    const exception = exceptions.find(
      (one) => one.file === file && text.includes(one.text) && one.text.includes(found),
    );
    if (exception) used.add(exception);
    return exception === undefined;
  });
}

const READERS: Readonly<Record<string, (text: string) => WordFinding[]>> = {
  ".md": markdownFindings,
  ".ts": sourceFindings,
};

if (import.meta.main) process.exitCode = main(process.argv.slice(2));

function main(args: readonly string[]): number {
  const used = new Set<WordException>();
  const findingsOf = (file: string) => {
    const text = readFileSync(file, "utf8");
    const find = READERS[extname(file)] ?? plainFindings;
    return unexcused(file, find(text), EXCEPTIONS, used);
  };
  const enforced = filesOf(ENFORCED);
  if (args.includes("--code")) return countCode();
  if (args.includes("--all")) {
    const others = filesOf(ALL).filter((file) => !enforced.includes(file));
    for (const [folder, files] of Map.groupBy(others, folderOf)) {
      const count = files.reduce((sum, file) => sum + findingsOf(file).length, 0);
      if (count > 0) console.log(`${String(count).padStart(5)}  ${folder}`);
    }
    return 0;
  }
  const chosen = args.length > 0 ? args : enforced;
  const sources =
    args.length > 0
      ? args.filter((file) => /\.tsx?$/.test(file))
      : globSync([...ENFORCED_CODE], { exclude: (path) => /node_modules|\/dist\/|\/generated\//.test(path) }).sort();
  let count = 0;
  const list = (file: string, findings: readonly WordFinding[]) => {
    for (const { line, found, instead } of findings) {
      count++;
      console.log(`${file}:${line}: "${found}": write ${instead}`);
    }
  };
  for (const file of chosen) list(file, findingsOf(file));
  for (const file of sources) list(file, unexcused(file, codeFindings(readFileSync(file, "utf8")), EXCEPTIONS, used));
  if (args.length > 0) return count === 0 ? 0 : 1;
  for (const file of new Set(EXCEPTIONS.map((exception) => exception.file))) {
    if (!chosen.includes(file)) findingsOf(file);
  }
  for (const exception of EXCEPTIONS.filter((one) => !used.has(one))) {
    count++;
    console.log(
      `scripts/docs/word-exceptions.ts: "${exception.text}" is not in ${exception.file}: remove the exception`,
    );
  }
  return count === 0 ? 0 : 1;
}

function countCode(): number {
  const files = globSync(CODE, { exclude: (path) => /node_modules|\/dist\/|\/generated\//.test(path) }).sort();
  let total = 0;
  for (const [folder, members] of Map.groupBy(files, (file) => file.split("/", 2).join("/"))) {
    const count = members.reduce((sum, file) => sum + codeFindings(readFileSync(file, "utf8")).length, 0);
    total += count;
    if (count > 0) console.log(`${String(count).padStart(5)}  ${folder}`);
  }
  console.log(`${String(total).padStart(5)}  in all`);
  return 0;
}

function filesOf(patterns: readonly string[]): string[] {
  const files = patterns.flatMap((pattern) => globSync(pattern, { exclude: (path) => SKIPPED.test(path) }));
  return [...new Set(files)].filter((file) => !SKIPPED.test(file)).sort();
}

/** `packages/runtime/src/apply`, `operators/llm`, `docs/guide`. */
function folderOf(file: string): string {
  const parts = file.split("/");
  return parts.slice(0, Math.min(parts.length - 1, parts[0] === "packages" ? 4 : 2)).join("/") || ".";
}
