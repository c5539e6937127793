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
