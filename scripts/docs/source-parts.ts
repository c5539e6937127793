/** A piece of a source. */
export interface SourcePart {
  /** The line on which it starts. */
  readonly line: number;
  readonly text: string;
}

/** What a TypeScript source consists of, for checks of its words. */
export interface SourceParts {
  /** What is written between the quotes of strings and templates; `${…}` is replaced by `…`; line breaks stay. */
  readonly literals: readonly SourcePart[];
  /** What comments say, without the marks around them; line breaks stay. */
  readonly comments: readonly SourcePart[];
  /** Where a name first stands in the code. */
  readonly names: readonly SourcePart[];
}

const LONGEST_NAME = 100;

/** A slash after one of these starts a regular expression; after anything else it divides. */
const BEFORE_REGEXP = /(?:^|[=(,:;!&|?{}[+\-*%~^<>\n]|\b(?:return|typeof|case|in|of|do|else|void|delete|throw|new))$/;

/**
 * The literals, comments and names of a source, in order, without regular expressions. It reads characters and does not parse: good
 * enough to check words.
 */
export function sourceParts(source: string): SourceParts {
  const literals: SourcePart[] = [];
  const comments: SourcePart[] = [];
  const names = new Map<string, number>();
  let at = 0;
  let line = 1;
  const step = () => {
    if (source[at] === "\n") line++;
    return source[at++]!;
  };
  readCode(false);
  return { literals, comments, names: [...names].map(([text, first]) => ({ line: first, text })) };

  /** Reads code until the end, or until the brace that closes a template's expression. */
  function readCode(inTemplate: boolean): void {
    let depth = 0;
    let before = "";
    while (at < source.length) {
      const two = source.slice(at, at + 2);
      if (two === "//" || two === "/*") {
        readComment(two === "//" ? "\n" : "*/");
        continue;
      }
      const [name] = /^[\p{ID_Start}_$][\p{ID_Continue}$]*/u.exec(source.slice(at, at + LONGEST_NAME)) ?? [];
      if (name !== undefined) {
        if (!names.has(name)) names.set(name, line);
        at += name.length;
        before = (before + name).slice(-12);
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

  function readComment(end: string): void {
    const start = { line, at };
    while (at < source.length && !source.startsWith(end, at)) step();
    const text = source.slice(start.at + 2, at).replaceAll(/^[ \t]*\*+ ?/gm, "");
    comments.push({ line: start.line, text });
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
