import type { Issue, Source } from "./source.ts";
import { FIXED_TOKENS, KEYWORDS, T, type Token } from "./tokens.ts";

const isDigit = (c: string | undefined) => c !== undefined && c >= "0" && c <= "9";
const isHex = (c: string | undefined) => c !== undefined && /^[0-9a-fA-F]$/.test(c);
const isWordStart = (c: string | undefined) => c !== undefined && /^[A-Za-z_]$/.test(c);
const isWordPart = (c: string | undefined) => isWordStart(c) || isDigit(c);
const SPACE = new Set(["\t", " ", "\r", "\n", "\f"]);

/** The pieces of a text, and what could not be one. */
export interface Tokens {
  /** The last one is EOF. */
  readonly tokens: readonly Token[];
  readonly issues: readonly Issue[];
  /** The offsets of characters that belong to no token; blanks and comments are not among them. */
  readonly garbage: ReadonlySet<number>;
}

/** Splits an expression into tokens. Text that is no token is reported and skipped. */
export function tokenize(source: Source): Tokens {
  const lexer = new Lexer(source);
  lexer.run();
  return lexer;
}

class Lexer implements Tokens {
  readonly tokens: Token[] = [];
  readonly issues: Issue[] = [];
  readonly garbage = new Set<number>();
  readonly #source: Source;
  readonly #points: readonly string[];
  /** How far the last attempt to read a string got: the place at which an unfinished one is wrong. */
  #reached = 0;

  constructor(source: Source) {
    this.#source = source;
    this.#points = source.points;
  }

  run(): void {
    let at = 0;
    while (at < this.#points.length) {
      this.#reached = at;
      const next = this.#skipBlank(at) ?? this.#token(at);
      if (next === undefined) {
        const text = this.#source.slice(at, this.#reached + 1);
        const message = `Syntax error: token recognition error at: '${text}'`;
        this.issues.push({ location: this.#source.locate(at), message });
        for (let i = at; i <= this.#reached; i++) this.garbage.add(i);
      }
      at = next ?? this.#reached + 1;
    }
    const end = this.#points.length;
    this.tokens.push({ type: T.EOF, text: "<EOF>", start: end === 0 ? -1 : end, end });
  }

  #skipBlank(at: number): number | undefined {
    const points = this.#points;
    let end = at;
    if (points[at] === "/" && points[at + 1] === "/") {
      while (end < points.length && points[end] !== "\n") end++;
    } else {
      while (end < points.length && SPACE.has(points[end]!)) end++;
    }
    return end > at ? end : undefined;
  }

  /** Reads one token and gives its end. Of several possible tokens the longest counts. */
  #token(at: number): number | undefined {
    const points = this.#points;
    const c = points[at]!;
    if (isDigit(c) || (c === "." && isDigit(points[at + 1]))) return this.#number(at);
    const string = this.#stringEnd(at);
    if (string !== undefined) return this.#emit(T.STRING, at, string);
    if (c === "b" || c === "B") {
      const bytes = this.#stringEnd(at + 1);
      if (bytes !== undefined) return this.#emit(T.BYTES, at, bytes);
    }
    if (isWordStart(c)) {
      let end = at + 1;
      while (isWordPart(points[end])) end++;
      return this.#emit(KEYWORDS.get(this.#source.slice(at, end)) ?? T.IDENTIFIER, at, end);
    }
    if (c === "`") return this.#escapedIdentifier(at);
    for (const [text, type] of FIXED_TOKENS) {
      if (c === text[0] && (text.length === 1 || points[at + 1] === text[1]))
        return this.#emit(type, at, at + text.length);
    }
    if (c === "=" || c === "&" || c === "|") this.#reached = Math.min(at + 1, points.length);
    return undefined;
  }

  #emit(type: number, start: number, end: number): number {
    this.tokens.push({ type, text: this.#source.slice(start, end), start, end });
    return end;
  }

  #escapedIdentifier(at: number): number | undefined {
    let end = at + 1;
    while (isWordPart(this.#points[end]) || [".", "-", "/", " "].includes(this.#points[end] ?? "")) end++;
    this.#reached = end;
    const isClosed = this.#points[end] === "`" && end > at + 1;
    return isClosed ? this.#emit(T.ESCAPED_IDENTIFIER, at, end + 1) : undefined;
  }

  #number(at: number): number {
    const digits = (from: number) => {
      let end = from;
      while (isDigit(this.#points[end])) end++;
      return end;
    };
    const isUnsigned = (end: number) => this.#points[end] === "u" || this.#points[end] === "U";
    if (this.#points[at] === "0" && this.#points[at + 1] === "x" && isHex(this.#points[at + 2])) {
      let end = at + 2;
      while (isHex(this.#points[end])) end++;
      return isUnsigned(end) ? this.#emit(T.UINT, at, end + 1) : this.#emit(T.INT, at, end);
    }
    const whole = digits(at);
    let end = whole;
    if (this.#points[end] === "." && isDigit(this.#points[end + 1])) end = digits(end + 1);
    if (this.#points[end] === "e" || this.#points[end] === "E") {
      const sign = this.#points[end + 1] === "+" || this.#points[end + 1] === "-" ? 1 : 0;
      if (isDigit(this.#points[end + 1 + sign])) end = digits(end + 1 + sign);
    }
    if (end > whole) return this.#emit(T.FLOAT, at, end);
    return isUnsigned(end) ? this.#emit(T.UINT, at, end + 1) : this.#emit(T.INT, at, end);
  }

  /** The end of the string literal that starts at `at`, raw or not, or undefined when there is none. */
  #stringEnd(at: number): number | undefined {
    const isRaw = this.#points[at] === "r" || this.#points[at] === "R";
    const open = isRaw ? at + 1 : at;
    const quote = this.#points[open];
    if (quote !== '"' && quote !== "'") return undefined;
    const isTriple = this.#points[open + 1] === quote && this.#points[open + 2] === quote;
    const triple = isTriple ? this.#scanString(open + 3, quote.repeat(3), isRaw) : undefined;
    return triple ?? this.#scanString(open + 1, quote, isRaw);
  }

  #scanString(from: number, close: string, isRaw: boolean): number | undefined {
    const points = this.#points;
    const isTriple = close.length === 3;
    for (let i = from; i < points.length; ) {
      const c = points[i]!;
      if (c === close[0] && (!isTriple || (points[i + 1] === c && points[i + 2] === c))) return i + close.length;
      if (!isTriple && (c === "\n" || c === "\r")) return this.#fail(i);
      if (c === "\\" && !isRaw) {
        const end = this.#escapeEnd(i);
        if (end === undefined) return undefined;
        i = end;
      } else i++;
    }
    return this.#fail(points.length);
  }

  #escapeEnd(at: number): number | undefined {
    const points = this.#points;
    const c = points[at + 1];
    const all = (count: number, accepts: (c: string | undefined) => boolean) => {
      for (let i = at + 2; i < at + 2 + count; i++) if (!accepts(points[i])) return this.#fail(i);
      return at + 2 + count;
    };
    if (c === "x" || c === "X") return all(2, isHex);
    if (c === "u") return all(4, isHex);
    if (c === "U") return all(8, isHex);
    if (c !== undefined && c >= "0" && c <= "3") return all(2, (d) => d !== undefined && d >= "0" && d <= "7");
    return c !== undefined && "abfnrtv\"'\\?`".includes(c) ? at + 2 : this.#fail(at + 1);
  }

  #fail(at: number): undefined {
    this.#reached = Math.max(this.#reached, Math.min(at, this.#points.length));
    return undefined;
  }
}
