// The few things the site needs to know about Markdown. VitePress parses the pages; what this misses, the check of the built
// pages reports.
import { slug } from "./slug.ts";

/** The lines of a document, each with whether it is prose, not code, and the heading it is. */
export interface MarkdownLine {
  readonly text: string;
  readonly number: number;
  readonly code: boolean;
  readonly heading?: { readonly level: number; readonly title: string };
}

export function linesOf(markdown: string): MarkdownLine[] {
  let fence: string | undefined;
  return markdown.split("\n").map((text, i) => {
    const mark = /^\s*(`{3,}|~{3,})/.exec(text)?.[1];
    const number = i + 1;
    if (fence !== undefined) {
      if (mark?.startsWith(fence) && text.trim() === mark) fence = undefined;
      return { text, number, code: true };
    }
    if (mark !== undefined) {
      fence = mark;
      return { text, number, code: true };
    }
    const [, hashes, title] = /^(#{1,6}) +(.+?)(?: +#+)?$/.exec(text) ?? [];
    return { text, number, code: false, heading: hashes ? { level: hashes.length, title: title! } : undefined };
  });
}

/** The title of a document: its first heading of level one, without the marks of code. */
export function titleOf(markdown: string): string | undefined {
  const first = linesOf(markdown).find(({ heading }) => heading?.level === 1);
  return first?.heading?.title.replaceAll("`", "");
}

/** What links can name behind `#`: headings, of which later ones with the same text get a number, and ids in HTML. */
export function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>();
  for (const { text, code, heading } of linesOf(markdown)) {
    if (code) continue;
    for (const [, id] of text.matchAll(/<[^>]*\sid="([^"]+)"/g)) anchors.add(id!);
    if (!heading) continue;
    const anchor = slug(heading.title.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1"));
    let unique = anchor;
    for (let i = 1; anchors.has(unique); i++) unique = `${anchor}-${i}`;
    anchors.add(unique);
  }
  return anchors;
}

/** What is below a heading, up to the next one of its level; undefined without such a heading. */
export function sectionOf(markdown: string, anchor: string): string | undefined {
  const lines = linesOf(markdown);
  const start = lines.findIndex(({ heading }) => heading && slug(heading.title) === anchor);
  if (start < 0) return undefined;
  const level = lines[start]!.heading!.level;
  const end = lines.findIndex(({ heading }, i) => i > start && heading && heading.level <= level);
  const body = lines.slice(start + 1, end < 0 ? undefined : end);
  return body
    .map(({ text }) => text)
    .join("\n")
    .trim();
}

/** A code span, or the part of a link or picture from `](` on. */
const SPAN_OR_TARGET = /(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)|(\]\(\s*)([^()\s]+)((?:\s+"[^"]*")?\s*\))/g;

/** The address of a picture that is written in HTML: with another one for dark themes, for example. */
const HTML_PICTURE = /(<(?:img|source)\b[^>]*?\ssrc(?:set)?=")([^"\s]+)(?=")/g;

/** Replaces the targets of all links and pictures outside code. */
export function replaceLinks(markdown: string, replace: (target: string, line: number) => string): string {
  const lines = linesOf(markdown).map(({ text, number, code }) => {
    if (code) return text;
    return text
      .replace(SPAN_OR_TARGET, (all, span, before, target, after) =>
        span === undefined ? before + replace(target, number) + after : all,
      )
      .replace(HTML_PICTURE, (_, before, target) => before + replace(target, number))
      .replace(/^( {0,3}\[[^\]]+\]: +)(\S+)/, (_, before, target) => before + replace(target, number));
  });
  return lines.join("\n");
}

/** A fenced block with any content. */
export function fenced(language: string, content: string): string {
  const longest = Math.max(2, ...[...content.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${content.trimEnd()}\n${fence}`;
}

/**
 * Blocks as VitePress shows them: `ts file=a.ts` gets the file's name as its title; the other words behind a language are
 * for the tests of the documentation.
 */
export function showFileNames(markdown: string): string {
  let close: string | undefined;
  return linesOf(markdown)
    .map(({ text, code }) => {
      if (!code) return text;
      const [, fence, language = "", info = ""] = /^(`{3,})([\w-]*) *(.*)$/.exec(text) ?? [];
      if (close !== undefined) {
        if (text.trim() !== close.split("\n")[0]) return text;
        const end = close;
        close = undefined;
        return end;
      }
      if (fence === undefined) return text;
      const file = /^file=(\S+)/.exec(info)?.[1];
      close = file ? `${fence}\n:::` : fence;
      return file ? `::: code-group\n${fence}${language} [${file}]` : fence + language;
    })
    .join("\n");
}
