import { problemInLine, YamlError } from "./yaml-error.ts";

export const TAB = 0x09;
const LINE_FEED = 0x0a;
const RETURN = 0x0d;
export const SPACE = 0x20;
const NEXT_LINE = 0x85;
const LINE_SEPARATOR = 0x2028;
const PARAGRAPH_SEPARATOR = 0x2029;

/** A place in a text: line and column count from 0. */
export interface Mark {
  readonly at: number;
  readonly line: number;
  readonly column: number;
}

/** Space or tab. */
export const isBlank = (code: number): boolean => code === SPACE || code === TAB;

export const isBreak = (code: number): boolean =>
  code === LINE_FEED ||
  code === RETURN ||
  code === NEXT_LINE ||
  code === LINE_SEPARATOR ||
  code === PARAGRAPH_SEPARATOR;

/** A line break or the end of the text, where there is no code. */
export const isBreakOrEnd = (code: number): boolean => Number.isNaN(code) || isBreak(code);
export const isBlankOrEnd = (code: number): boolean => isBlank(code) || isBreakOrEnd(code);

/** Letters, digits, dash and underscore: what names of anchors are made of. */
export const isWord = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x61 && code <= 0x7a) ||
  code === 0x2d ||
  code === 0x5f;

export const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** Walks through a text once, from its beginning to its end. */
export class Cursor {
  readonly text: string;
  at = 0;
  line = 0;
  column = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** The code of a character further on; NaN beyond the end. */
  code(ahead = 0): number {
    return this.text.charCodeAt(this.at + ahead);
  }

  is(character: string): boolean {
    return this.text[this.at] === character;
  }

  get mark(): Mark {
    return { at: this.at, line: this.line, column: this.column };
  }

  /** Passes characters that are no line breaks. */
  skip(count = 1): void {
    for (let i = 0; i < count; i++) {
      // The second half of a character beyond the basic plane takes no column.
      const code = this.text.charCodeAt(this.at++);
      if (code < 0xdc00 || code > 0xdfff) this.column++;
    }
  }

  /** Passes a line break and returns what it stands for in a scalar. */
  skipBreak(): string {
    const code = this.code();
    this.at += code === RETURN && this.code(1) === LINE_FEED ? 2 : 1;
    this.line++;
    this.column = 0;
    return code === LINE_SEPARATOR || code === PARAGRAPH_SEPARATOR ? String.fromCharCode(code) : "\n";
  }

  /** Passes characters while they are such, and returns them. */
  take(isSuch: (code: number) => boolean): string {
    const start = this.at;
    while (isSuch(this.code())) this.skip();
    return this.text.slice(start, this.at);
  }

  skipBlanks(): void {
    while (isBlank(this.code())) this.skip();
  }

  /** Passes a comment, if there is one, up to the end of its line. */
  skipComment(): void {
    if (!this.is("#")) return;
    while (!isBreakOrEnd(this.code())) this.skip();
  }

  /** `---` or `...` at the beginning of a line. */
  isAtDocumentIndicator(indicator?: "---" | "..."): boolean {
    if (this.column !== 0) return false;
    const found = this.text.startsWith("---", this.at) ? "---" : this.text.startsWith("...", this.at) ? "..." : "";
    return found !== "" && (indicator === undefined || found === indicator) && isBlankOrEnd(this.code(3));
  }

  fail(problem: string): never {
    throw new YamlError(problemInLine(problem, this.line === 0 ? 0 : this.line + 1), this);
  }
}
