/** A string or template literal of a TypeScript source. */
export interface StringLiteral {
  /** The line on which it starts. */
  readonly line: number;
  /** What is written between the quotes; `${…}` in templates is replaced by `…`; line breaks stay. */
  readonly text: string;
}

/** A slash after one of these starts a regular expression; after anything else it divides. */
const BEFORE_REGEXP = /(?:^|[=(,:;!&|?{}[+\-*%~^<>\n]|\b(?:return|typeof|case|in|of|do|else|void|delete|throw|new))$/;

/**
 * The string literals of a source, in order, without comments and regular expressions. It reads characters and does not parse:
 * good enough to check what literals say.
 */
export function stringLiterals(source: string): StringLiteral[] {
  const literals: StringLiteral[] = [];
  let at = 0;
  let line = 1;
  const step = () => {
    if (source[at] === "\n") line++;
    return source[at++]!;
  };
  readCode(false);
  return literals;

  /** Reads code until the end, or until the brace that closes a template's expression. */
  function readCode(inTemplate: boolean): void {
    let depth = 0;
    let before = "";
    while (at < source.length) {
      const two = source.slice(at, at + 2);
      if (two === "//" || two === "/*") {
        skipTo(two === "//" ? "\n" : "*/");
        continue;
      }
      if (source[at] === '"' || source[at] === "'") readString(step());
      else if (source[at] === "`") readTemplate();
      else if (source[at] === "/" && BEFORE_REGEXP.test(before.trimEnd())) skipRegExp();
      else {
        const char = step();
        if (char === "{") depth++;
        if (char === "}" && depth-- === 0 && inTemplate) return;
        before = (before + char).slice(-12);
        continue;
      }
      before = "x";
    }
  }

  function skipTo(end: string): void {
    while (at < source.length && !source.startsWith(end, at)) step();
    for (const _ of end) if (at < source.length) step();
  }

  function readString(quote: string): void {
    const start = line;
    let text = "";
    while (at < source.length) {
      const char = step();
      if (char === quote) break;
      text += char === "\\" ? escaped(step()) : char;
    }
    literals.push({ line: start, text });
  }

  function readTemplate(): void {
    const start = line;
    let text = "";
    step();
    while (at < source.length) {
      if (source.startsWith("${", at)) {
        const expression = line;
        step();
        step();
        readCode(true);
        text += `…${"\n".repeat(line - expression)}`;
        continue;
      }
      const char = step();
      if (char === "`") break;
      text += char === "\\" ? escaped(step()) : char;
    }
    literals.push({ line: start, text });
  }

  function skipRegExp(): void {
    let inClass = false;
    step();
    while (at < source.length) {
      const char = step();
      if (char === "\\") step();
      else if (char === "[") inClass = true;
      else if (char === "]") inClass = false;
      else if (char === "\n" || (char === "/" && !inClass)) return;
    }
  }
}

/** What an escape means for a reader of the text: a line break is white space that keeps the line. */
function escaped(char: string): string {
  return char === "n" || char === "t" || char === "r" ? " " : char;
}
