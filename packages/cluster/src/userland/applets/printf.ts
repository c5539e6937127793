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

/** A text in which `\n`, `\t`, `\x41` and `\0101` are what they stand for. */
export function unescaped(text: string): string {
  return text.replaceAll(/\\(x[0-9a-fA-F]{1,2}|0?[0-7]{1,3}|.)/g, (whole, what: string) => {
    if (what.startsWith("x") && what.length > 1) return String.fromCharCode(Number.parseInt(what.slice(1), 16));
    if (/^[0-7]/.test(what)) return String.fromCharCode(Number.parseInt(what, 8));
    return ESCAPES[what] ?? whole;
  });
}

/** What `printf` writes: the format is used again while there are arguments left. */
export function formatted(format: string, values: readonly string[]): string {
  const rest = [...values];
  let text = "";
  do {
    const before = rest.length;
    text += unescaped(format).replaceAll(
      /%([-0]*)(\d*)(?:\.(\d+))?([sdixXcbq%])/g,
      (_, flags, width, precision, kind) => {
        if (kind === "%") return "%";
        const padded = shownAs(rest.shift() ?? "", kind as string, precision as string | undefined);
        const size = Number(width || 0);
        if ((flags as string).includes("-")) return padded.padEnd(size);
        return padded.padStart(size, (flags as string).includes("0") && kind !== "s" ? "0" : " ");
      },
    );
    if (rest.length === before) break;
  } while (rest.length > 0);
  return text;
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
