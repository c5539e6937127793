import { type Cursor, isBlank, isBlankOrEnd, isBreak, isBreakOrEnd, isDigit, SPACE, TAB } from "./cursor.ts";

/** Line breaks between two lines of a scalar: one is a space, of more the first goes. */
class Folding {
  #first = "";
  #others = "";

  /** A line break has been passed since the last text. */
  get isPending(): boolean {
    return this.#first !== "";
  }

  add(lineBreak: string): void {
    if (this.#first === "") this.#first = lineBreak;
    else this.#others += lineBreak;
  }

  /** What they come to before more text. */
  fold(): string {
    const folded = this.#first === "\n" ? this.#others || " " : this.#first + this.#others;
    this.#first = "";
    this.#others = "";
    return folded;
  }
}

const COLON = 0x3a;
const HASH = 0x23;

/** Whether a plain scalar ends in front of this character because it stands in `[…]` or `{…}`. */
const endsInFlow = (code: number): boolean =>
  code === 0x2c || code === 0x3f || code === 0x5b || code === 0x5d || code === 0x7b || code === 0x7d;

/** Scans a scalar without quotes. `indent` is the least column of its further lines outside of flow collections. */
export function scanPlain(cursor: Cursor, indent: number, inFlow: boolean): { text: string; endsLine: boolean } {
  const { text: source } = cursor;
  const breaks = new Folding();
  let text = "";
  let blanks = "";
  for (;;) {
    if (cursor.isAtDocumentIndicator() || cursor.code() === HASH) break;
    const start = cursor.at;
    for (let code = cursor.code(); !isBlankOrEnd(code); code = cursor.code()) {
      if ((code === COLON && isBlankOrEnd(cursor.code(1))) || (inFlow && endsInFlow(code))) break;
      cursor.skip();
    }
    if (cursor.at > start) {
      text += (breaks.isPending ? breaks.fold() : blanks) + source.slice(start, cursor.at);
      blanks = "";
    }
    const next = cursor.code();
    if (!isBlank(next) && !isBreak(next)) break;
    blanks = passBlanks(cursor, breaks, (code) => {
      if (breaks.isPending && cursor.column < indent && code === TAB) {
        cursor.fail("found a tab character that violates indentation");
      }
    });
    if (!inFlow && cursor.column < indent) break;
  }
  return { text, endsLine: breaks.isPending };
}

/** Passes blanks and line breaks; returns the blanks if there were no line breaks. */
function passBlanks(cursor: Cursor, breaks: Folding, check: (code: number) => void = () => {}): string {
  const start = cursor.at;
  for (let code = cursor.code(); isBlank(code) || isBreak(code); code = cursor.code()) {
    if (isBlank(code)) {
      check(code);
      cursor.skip();
    } else breaks.add(cursor.skipBreak());
  }
  return breaks.isPending ? "" : cursor.text.slice(start, cursor.at);
}

const SINGLE_QUOTE = 0x27;
const DOUBLE_QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Scans a scalar in quotes; the cursor is on the first of them. */
export function scanQuoted(cursor: Cursor, quote: "'" | '"'): string {
  const closing = quote === "'" ? SINGLE_QUOTE : DOUBLE_QUOTE;
  const breaks = new Folding();
  let text = "";
  cursor.skip();
  for (;;) {
    if (cursor.isAtDocumentIndicator()) cursor.fail("found unexpected document indicator");
    if (Number.isNaN(cursor.code())) cursor.fail("found unexpected end of stream");
    let start = cursor.at;
    let isJoined = false;
    for (let code = cursor.code(); !isBlankOrEnd(code); code = cursor.code()) {
      if (code === closing) {
        if (quote === '"' || cursor.code(1) !== SINGLE_QUOTE) break;
        text += cursor.text.slice(start, cursor.at + 1);
        cursor.skip(2);
        start = cursor.at;
      } else if (quote === '"' && code === BACKSLASH) {
        text += cursor.text.slice(start, cursor.at);
        if (isBreak(cursor.code(1))) {
          cursor.skip();
          cursor.skipBreak();
          isJoined = true;
        } else text += scanEscape(cursor);
        start = cursor.at;
        if (isJoined) break;
      } else cursor.skip();
    }
    text += cursor.text.slice(start, cursor.at);
    if (cursor.code() === closing) break;
    // After an escaped line break the blanks that begin the next line go, and further breaks stay.
    if (isJoined) text += joined(cursor);
    else {
      const blanks = passBlanks(cursor, breaks);
      text += breaks.isPending ? breaks.fold() : blanks;
    }
  }
  cursor.skip();
  return text;
}

function joined(cursor: Cursor): string {
  let breaks = "";
  for (let code = cursor.code(); isBlank(code) || isBreak(code); code = cursor.code()) {
    if (isBlank(code)) cursor.skip();
    else breaks += cursor.skipBreak();
  }
  return breaks;
}

const ESCAPES: Record<string, string> = {
  "0": "\0",
  a: "\x07",
  b: "\b",
  t: "\t",
  "\t": "\t",
  n: "\n",
  v: "\v",
  f: "\f",
  r: "\r",
  e: "\x1b",
  " ": " ",
  '"': '"',
  "'": "'",
  "\\": "\\",
  N: "\u0085",
  _: "\u00a0",
  L: "\u2028",
  P: "\u2029",
};
const CODE_LENGTHS: Record<string, number> = { x: 2, u: 4, U: 8 };

function scanEscape(cursor: Cursor): string {
  const letter = cursor.text[cursor.at + 1] ?? "";
  const simple = ESCAPES[letter];
  const length = CODE_LENGTHS[letter];
  if (simple === undefined && length === undefined) cursor.fail("found unknown escape character");
  cursor.skip(2);
  if (simple !== undefined) return simple;
  const digits = cursor.text.slice(cursor.at, cursor.at + length!);
  if (digits.length < length! || !/^[0-9a-fA-F]+$/.test(digits)) {
    cursor.fail("did not find expected hexdecimal number");
  }
  const value = Number.parseInt(digits, 16);
  if ((value >= 0xd800 && value <= 0xdfff) || value > 0x10ffff) {
    cursor.fail("found invalid Unicode character escape code");
  }
  cursor.skip(length);
  return String.fromCodePoint(value);
}

/** Scans a literal (`|`) or folded (`>`) scalar; `parent` is the column that its lines are indented from. */
export function scanBlock(cursor: Cursor, parent: number): string {
  const isLiteral = cursor.is("|");
  cursor.skip();
  const { keep, increment } = scanBlockHeader(cursor);
  const given = increment === 0 ? 0 : Math.max(parent, 0) + increment;
  let { breaks, indent } = passEmptyLines(cursor, given, parent);
  let text = "";
  let lastBreak = "";
  let wasBlank = false;
  while (cursor.column === indent && !Number.isNaN(cursor.code())) {
    const beginsBlank = isBlank(cursor.code());
    const folds = !isLiteral && !wasBlank && !beginsBlank && lastBreak === "\n";
    text += folds ? (breaks === "" ? " " : breaks) : lastBreak + breaks;
    wasBlank = beginsBlank;
    text += cursor.take(isInLine);
    lastBreak = isBreak(cursor.code()) ? cursor.skipBreak() : "";
    ({ breaks } = passEmptyLines(cursor, indent, parent));
  }
  if (keep !== "-") text += lastBreak;
  return keep === "+" ? text + breaks : text;
}

const isInLine = (code: number): boolean => !isBreakOrEnd(code);

/** What follows `|` or `>`: how the last line breaks are kept (`+` all, `-` none), and an indentation. */
function scanBlockHeader(cursor: Cursor): { keep: string; increment: number } {
  let keep = "";
  let increment = 0;
  const chomping = () => {
    if (!cursor.is("+") && !cursor.is("-")) return;
    keep = cursor.text[cursor.at]!;
    cursor.skip();
  };
  const indentation = () => {
    if (!isDigit(cursor.code())) return;
    if (cursor.is("0")) cursor.fail("found an indentation indicator equal to 0");
    increment = cursor.code() - 0x30;
    cursor.skip();
  };
  chomping();
  indentation();
  if (keep === "") chomping();
  cursor.skipBlanks();
  cursor.skipComment();
  if (!isBreakOrEnd(cursor.code())) cursor.fail("did not find expected comment or line break");
  if (isBreak(cursor.code())) cursor.skipBreak();
  return { keep, increment };
}

/** Skips indentation and empty lines; the first line that is not empty defines the indentation, if it is not known. */
function passEmptyLines(cursor: Cursor, known: number, parent: number): { breaks: string; indent: number } {
  let breaks = "";
  let deepest = 0;
  for (;;) {
    while ((known === 0 || cursor.column < known) && cursor.code() === SPACE) cursor.skip();
    deepest = Math.max(deepest, cursor.column);
    if ((known === 0 || cursor.column < known) && cursor.code() === TAB) {
      cursor.fail("found a tab character where an indentation space is expected");
    }
    if (!isBreak(cursor.code())) break;
    breaks += cursor.skipBreak();
  }
  return { breaks, indent: known || Math.max(deepest, parent + 1, 1) };
}
