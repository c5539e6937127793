/** Where a command prints. */
export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

const CODES = { red: 31, green: 32, yellow: 33, gray: 90, bold: 1 } as const;

export type Color = keyof typeof CODES;

/** Colors text on a terminal, unless `NO_COLOR` is set (https://no-color.org). */
export function colored(screen: Pick<Screen, "isTTY">, color: Color, text: string, env = process.env): string {
  return screen.isTTY && !env["NO_COLOR"] ? `\x1b[${CODES[color]}m${text}\x1b[0m` : text;
}

/** How many characters of a text are seen. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: colors begin with this character
const CONTROL = /\x1b\[[0-9;]*m/g;

/** Cuts a line to a width, without cutting a color in two. */
export function fitted(line: string, width: number): string {
  if (line.replace(CONTROL, "").length <= width) return line;
  return line.replace(CONTROL, "").slice(0, Math.max(0, width - 1)) + (width > 0 ? "…" : "");
}

/** A text in lines that fit a width, broken between words where that is possible; all but the first are indented. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  const room = Math.max(10, width);
  for (const paragraph of text.split("\n")) {
    let rest = `${lines.length === 0 ? "" : "  "}${paragraph}`;
    while (rest.length > room) {
      const space = rest.lastIndexOf(" ", room);
      const at = space > room / 2 ? space : room;
      lines.push(rest.slice(0, at));
      rest = `  ${rest.slice(at).trimStart()}`;
    }
    lines.push(rest);
  }
  return lines;
}
