/** A pattern as shells have them (`*`, `?`, `[a-z]`), as a regular expression over one whole text. */
export function patternOf(glob: string, { inPath = false } = {}): RegExp {
  let source = "";
  for (let at = 0; at < glob.length; at++) {
    const char = glob[at]!;
    const close = char === "[" ? glob.indexOf("]", at + 2) : -1;
    if (char === "*") source += inPath ? "[^/]*" : "[\\s\\S]*";
    else if (char === "?") source += inPath ? "[^/]" : "[\\s\\S]";
    else if (close > 0) {
      const inside = glob
        .slice(at + 1, close)
        .replace(/^[!^]/, "^")
        .replaceAll("\\", "\\\\");
      source += `[${inside}]`;
      at = close;
    } else if (char === "\\" && at + 1 < glob.length) source += escaped(glob[++at]!);
    else source += escaped(char);
  }
  return new RegExp(`^(?:${source})$`);
}

/** A text as a pattern that matches it alone. */
export function literally(text: string): string {
  return text.replaceAll(/[\\*?[\]]/g, "\\$&");
}

export function hasPattern(glob: string): boolean {
  return /(^|[^\\])[*?[]/.test(glob);
}

/** What a pattern stands for when it turns out to match nothing. */
export function withoutEscapes(glob: string): string {
  return glob.replaceAll(/\\([\\*?[\]])/g, "$1");
}

function escaped(char: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char;
}
