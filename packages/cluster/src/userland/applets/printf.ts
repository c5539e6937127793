const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "\x07",
  b: "\b",
  f: "\f",
  v: "\v",
  "\\": "\\",
  e: "\x1b",
};

/** The longest text in which something is escaped, or a format, in characters. */
const LONGEST = 128 * 1024;

/** Expands `\n`, `\t`, `\x41` and `\0101` in a text. */
export function unescaped(text: string): string {
  if (text.length > LONGEST) throw new Error("Argument list too long");
  return text.replaceAll(/\\(x[0-9a-fA-F]{1,2}|0?[0-7]{1,3}|.)/g, (whole, what: string) => {
    if (what.startsWith("x") && what.length > 1) return String.fromCharCode(Number.parseInt(what.slice(1), 16));
    if (/^[0-7]/.test(what)) return String.fromCharCode(Number.parseInt(what, 8));
    return ESCAPES[what] ?? whole;
  });
}

const DIRECTIVE = /%([-0]*)([1-9]\d*)?(?:\.(\d+))?([sdixXcbq%])/g;

/** What `printf` writes, piece by piece: the format is used again while there are arguments left. */
export function* formatted(format: string, values: readonly string[]): Generator<Padded, void, void> {
  const text = unescaped(format);
  const directives = [...text.matchAll(DIRECTIVE)];
  const isUsing = directives.some(([, , , , kind]) => kind !== "%");
  let used = 0;
  do {
    let at = 0;
    for (const { 0: whole, 1: flags = "", 2: width, 3: precision, 4: kind = "", index } of directives) {
      yield { text: text.slice(at, index), width: 0, fill: " ", isLeft: true };
      at = index + whole.length;
      const fill = flags.includes("0") && kind !== "s" ? "0" : " ";
      if (kind === "%") yield { text: "%", width: 0, fill, isLeft: true };
      else {
        const shown = shownAs(values[used++] ?? "", kind, precision);
        yield { text: shown, width: Number(width ?? 0), fill, isLeft: flags.includes("-") };
      }
    }
    yield { text: text.slice(at), width: 0, fill: " ", isLeft: true };
  } while (isUsing && used < values.length);
}

/** A text that is filled up to a width. */
export interface Padded {
  readonly text: string;
  readonly width: number;
  readonly fill: string;
  readonly isLeft: boolean;
}

function shownAs(value: string, kind: string, precision: string | undefined): string {
  if (kind === "d" || kind === "i") return String(Math.trunc(Number(value) || 0));
  if (kind === "x") return Math.trunc(Number(value) || 0).toString(16);
  if (kind === "X")
    return Math.trunc(Number(value) || 0)
      .toString(16)
      .toUpperCase();
  if (kind === "c") return value.slice(0, 1);
  const text = kind === "b" ? unescaped(value) : value;
  return precision === undefined ? text : text.slice(0, Number(precision));
}
