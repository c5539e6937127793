/** A fenced block of a Markdown document. */
export interface Block {
  readonly language: string;
  /** What follows the language: `file=operator.ts`, `output`, `not-run: …`. */
  readonly info: string;
  readonly text: string;
  readonly line: number;
}

/** The fenced blocks of a document, in order. */
export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: { fence: string; language: string; info: string; line: number; lines: string[] } | undefined;
  for (const [index, line] of markdown.split("\n").entries()) {
    if (open) {
      if (line.trimStart().startsWith(open.fence) && line.trim() === open.fence) {
        blocks.push({ language: open.language, info: open.info, text: open.lines.join("\n"), line: open.line });
        open = undefined;
      } else open.lines.push(line);
      continue;
    }
    const start = /^(```+)([\w-]*)\s*(.*)$/.exec(line);
    if (start) open = { fence: start[1]!, language: start[2]!, info: start[3]!.trim(), line: index + 1, lines: [] };
  }
  return blocks;
}
