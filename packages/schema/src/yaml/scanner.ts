import { MAX_JSON_DEPTH } from "@konverge/core";
import { Cursor, isBlankOrEnd, isBreak, isWord, type Mark, SPACE, TAB } from "./cursor.ts";
import { scanBlock, scanPlain, scanQuoted } from "./scan-scalars.ts";
import { type Directive, scanDirective, scanTag, type TagText } from "./scan-tags.ts";

/**
 * What a YAML text is made of. Indentation decides where blocks begin and end, and `:` after a scalar that it is a key.
 */
export class Token {
  readonly type: Indicator | "alias" | "anchor" | "tag" | "directive" | "scalar";
  readonly line: number;
  readonly column: number;
  /** Of a scalar its text, of an alias or anchor its name. */
  readonly text: string;
  /** A scalar without quotes. */
  readonly isPlain: boolean;
  readonly tag: TagText | undefined;
  readonly directive: Directive | undefined;

  // One shape for all: a text of a few megabytes has a million of them.
  constructor(
    type: Token["type"],
    { line, column }: Mark,
    text = "",
    { isPlain = false, tag, directive }: { isPlain?: boolean; tag?: TagText; directive?: Directive } = NOTHING_MORE,
  ) {
    this.type = type;
    this.line = line;
    this.column = column;
    this.text = text;
    this.isPlain = isPlain;
    this.tag = tag;
    this.directive = directive;
  }
}

const NOTHING_MORE = {};
const PLAIN = { isPlain: true };

type Indicator =
  | "end of stream"
  | "document start"
  | "document end"
  | "block sequence"
  | "block mapping"
  | "block end"
  | "["
  | "]"
  | "{"
  | "}"
  | "-"
  | ","
  | "key"
  | "value";

/** A place where a key may have begun that has no `?` before it: which is known when a `:` follows, on the same line. */
interface PossibleKey {
  readonly mark: Mark;
  /** The number of the token that it begins with. */
  readonly token: number;
  /** Nothing else can stand there. */
  readonly isRequired: boolean;
}

const BYTE_ORDER_MARK = "\ufeff";

/** How far behind the beginning of a key its `:` may be. */
const LONGEST_KEY = 1024;

/**
 * Reads the tokens of a text, one after the other, each in constant time.
 *
 * This is YAML 1.1 as Kubernetes' library scans it, with its messages. Tokens wait in a queue while they may turn out to be
 * part of a key, since then a token that says so comes before them.
 */
export class Scanner {
  readonly #cursor: Cursor;
  readonly #queue: Token[] = [];
  #head = 0;
  /** How many tokens have been taken. */
  #taken = 0;
  #flowLevel = 0;
  /** The column of the innermost block; -1 outside of all. */
  #indent = -1;
  readonly #indents: number[] = [];
  /** A key may begin here. */
  #allowsKey = true;
  /** One for each flow level and one for all blocks. */
  readonly #keys: (PossibleKey | undefined)[] = [undefined];
  readonly #keyOfToken = new Map<number, number>();
  /** For each flow level: the last token at which a key might have begun, or that which opened the level. */
  readonly #lastOfLevel: number[] = [];

  constructor(text: string) {
    this.#cursor = new Cursor(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
  }

  /** The next token, which stays the next. */
  peek(): Token {
    while (this.#head === this.#queue.length || this.#mayBeKey()) this.#fetch();
    return this.#queue[this.#head]!;
  }

  /** Takes the next token. */
  next(): Token {
    const token = this.peek();
    this.#head++;
    this.#taken++;
    if (this.#head === this.#queue.length) {
      this.#queue.length = 0;
      this.#head = 0;
    }
    return token;
  }

  /** Whether the next token may be the beginning of a key, as far as is known. */
  #mayBeKey(): boolean {
    const level = this.#keyOfToken.get(this.#taken);
    return level !== undefined && this.#isStillPossible(level);
  }

  #fetch(): void {
    const cursor = this.#cursor;
    this.#skipToToken();
    this.#endBlocks(cursor.column);
    const code = cursor.code();
    if (Number.isNaN(code)) this.#endStream();
    else if (cursor.column === 0 && cursor.is("%")) this.#directive();
    else if (cursor.isAtDocumentIndicator("---")) this.#documentIndicator("document start");
    else if (cursor.isAtDocumentIndicator("...")) this.#documentIndicator("document end");
    else this.#fetchContent(cursor.text[cursor.at]!, cursor.code(1));
  }

  #fetchContent(character: string, following: number): void {
    const inFlow = this.#flowLevel > 0;
    const isSeparate = isBlankOrEnd(following);
    switch (character) {
      case "[":
      case "{":
        this.#beginFlow(character);
        return;
      case "]":
      case "}":
        this.#endFlow(character);
        return;
      case ",":
        this.#dropKey();
        this.#allowsKey = true;
        this.#symbol(",");
        return;
      case "-":
        if (isSeparate) {
          this.#blockEntry();
          return;
        }
        break;
      case "?":
        if (inFlow || isSeparate) {
          this.#explicitKey();
          return;
        }
        break;
      case ":":
        if (inFlow || isSeparate) {
          this.#value();
          return;
        }
        break;
      case "*":
      case "&":
        this.#anchor(character);
        return;
      case "!":
        this.#tag();
        return;
      case "|":
      case ">":
        if (inFlow) break;
        this.#block();
        return;
      case "'":
      case '"':
        this.#quoted(character);
        return;
    }
    if (!canBeginPlain(character, following, inFlow)) {
      this.#cursor.fail("found character that cannot start any token");
    }
    this.#begin();
    const { mark } = this.#cursor;
    const { text, endsLine } = scanPlain(this.#cursor, this.#indent + 1, inFlow);
    if (endsLine) this.#allowsKey = true;
    this.#queue.push(new Token("scalar", mark, text, PLAIN));
  }

  /** Passes blanks, comments and empty lines. */
  #skipToToken(): void {
    const cursor = this.#cursor;
    for (;;) {
      // A tab is no indentation.
      const allowsTab = this.#flowLevel > 0 || !this.#allowsKey;
      while (cursor.code() === SPACE || (allowsTab && cursor.code() === TAB)) cursor.skip();
      cursor.skipComment();
      if (!isBreak(cursor.code())) return;
      cursor.skipBreak();
      if (this.#flowLevel === 0) this.#allowsKey = true;
    }
  }

  #tag(): void {
    this.#begin();
    const { mark } = this.#cursor;
    this.#queue.push(new Token("tag", mark, "", { tag: scanTag(this.#cursor) }));
  }

  #block(): void {
    this.#dropKey();
    this.#allowsKey = true;
    const { mark } = this.#cursor;
    this.#queue.push(new Token("scalar", mark, scanBlock(this.#cursor, this.#indent)));
  }

  #quoted(quote: "'" | '"'): void {
    this.#begin();
    const { mark } = this.#cursor;
    this.#queue.push(new Token("scalar", mark, scanQuoted(this.#cursor, quote)));
  }

  /** Adds the token of an indicator and passes it. */
  #symbol(type: Indicator, length = 1): void {
    this.#queue.push(new Token(type, this.#cursor));
    this.#cursor.skip(length);
  }

  /** Something begins that may be a key, and nothing that follows it directly can be one. */
  #begin(): void {
    this.#noteKey();
    this.#allowsKey = false;
  }

  #noteKey(): void {
    if (!this.#allowsKey) return;
    this.#dropKey();
    const isRequired = this.#flowLevel === 0 && this.#indent === this.#cursor.column;
    const token = this.#nextNumber();
    this.#keys[this.#keys.length - 1] = { mark: this.#cursor.mark, token, isRequired };
    this.#keyOfToken.set(token, this.#keys.length - 1);
    if (this.#flowLevel > 0) this.#lastOfLevel[this.#flowLevel - 1] = token;
  }

  /** The number of the token that is added next. */
  #nextNumber(): number {
    return this.#taken + this.#queue.length - this.#head;
  }

  /** What might have been a key at this level is none. */
  #dropKey(level: number = this.#keys.length - 1): void {
    const key = this.#keys[level];
    if (!key) return;
    if (key.isRequired) this.#cursor.fail("could not find expected ':'");
    this.#forgetKey(level, key);
  }

  #forgetKey(level: number, { token }: PossibleKey): void {
    this.#keys[level] = undefined;
    this.#keyOfToken.delete(token);
  }

  #isStillPossible(level: number): boolean {
    const key = this.#keys[level];
    if (!key) return false;
    const { line, at } = this.#cursor;
    if (key.mark.line === line && key.mark.at + LONGEST_KEY >= at) return true;
    this.#dropKey(level);
    return false;
  }

  /** Opens a block at a column, if it is further in than the one that is open. */
  #beginBlock(column: number, type: "block sequence" | "block mapping", mark: Mark, token?: number): void {
    if (this.#flowLevel > 0 || this.#indent >= column) return;
    this.#indents.push(this.#indent);
    this.#indent = column;
    this.#checkDepth();
    if (token === undefined) this.#queue.push(new Token(type, mark));
    else this.#insert(token, new Token(type, mark));
  }

  #endBlocks(column: number): void {
    if (this.#flowLevel > 0) return;
    while (this.#indent > column) {
      this.#queue.push(new Token("block end", this.#cursor));
      this.#indent = this.#indents.pop()!;
    }
  }

  #insert(token: number, inserted: Token): void {
    if (token < this.#taken) this.#queue.push(inserted);
    else this.#queue.splice(this.#head + token - this.#taken, 0, inserted);
  }

  #checkDepth(): void {
    if (this.#indents.length + this.#flowLevel > MAX_JSON_DEPTH) {
      this.#cursor.fail(`exceeded max depth of ${MAX_JSON_DEPTH}`);
    }
  }

  #endStream(): void {
    const cursor = this.#cursor;
    if (cursor.column !== 0) {
      cursor.column = 0;
      cursor.line++;
    }
    this.#endBlocks(-1);
    this.#dropKey();
    this.#allowsKey = false;
    this.#queue.push(new Token("end of stream", cursor));
  }

  #directive(): void {
    this.#beginDocumentPart();
    const { mark } = this.#cursor;
    this.#queue.push(new Token("directive", mark, "", { directive: scanDirective(this.#cursor) }));
  }

  #documentIndicator(type: "document start" | "document end"): void {
    this.#beginDocumentPart();
    this.#symbol(type, 3);
  }

  #beginDocumentPart(): void {
    this.#endBlocks(-1);
    this.#dropKey();
    this.#allowsKey = false;
  }

  #beginFlow(type: "[" | "{"): void {
    this.#noteKey();
    this.#keys.push(undefined);
    this.#lastOfLevel.push(this.#nextNumber());
    this.#flowLevel++;
    this.#checkDepth();
    this.#allowsKey = true;
    this.#symbol(type);
  }

  #endFlow(type: "]" | "}"): void {
    this.#dropKey();
    if (this.#flowLevel > 0) {
      this.#flowLevel--;
      this.#keys.pop();
      // So the library does not wait to see whether an empty collection is a key.
      this.#keyOfToken.delete(this.#lastOfLevel.pop()!);
    }
    this.#allowsKey = false;
    this.#symbol(type);
  }

  #blockEntry(): void {
    const { mark } = this.#cursor;
    if (this.#flowLevel === 0) {
      if (!this.#allowsKey) this.#cursor.fail("block sequence entries are not allowed in this context");
      this.#beginBlock(mark.column, "block sequence", mark);
    }
    this.#dropKey();
    this.#allowsKey = true;
    this.#symbol("-");
  }

  #explicitKey(): void {
    const { mark } = this.#cursor;
    if (this.#flowLevel === 0) {
      if (!this.#allowsKey) this.#cursor.fail("mapping keys are not allowed in this context");
      this.#beginBlock(mark.column, "block mapping", mark);
    }
    this.#dropKey();
    this.#allowsKey = this.#flowLevel === 0;
    this.#symbol("key");
  }

  #value(): void {
    const level = this.#keys.length - 1;
    const key = this.#isStillPossible(level) ? this.#keys[level] : undefined;
    if (key) {
      this.#insert(key.token, new Token("key", key.mark));
      this.#beginBlock(key.mark.column, "block mapping", key.mark, key.token);
      this.#forgetKey(level, key);
      this.#allowsKey = false;
    } else {
      const { mark } = this.#cursor;
      if (this.#flowLevel === 0) {
        if (!this.#allowsKey) this.#cursor.fail("mapping values are not allowed in this context");
        this.#beginBlock(mark.column, "block mapping", mark);
      }
      this.#allowsKey = this.#flowLevel === 0;
    }
    this.#symbol("value");
  }

  #anchor(character: "*" | "&"): void {
    const cursor = this.#cursor;
    this.#begin();
    const { mark } = cursor;
    cursor.skip();
    const name = cursor.take(isWord);
    if (name === "" || (!isBlankOrEnd(cursor.code()) && !"?:,]}%@`".includes(cursor.text[cursor.at]!))) {
      cursor.fail("did not find expected alphabetic or numeric character");
    }
    this.#queue.push(new Token(character === "*" ? "alias" : "anchor", mark, name));
  }
}

/** Whether a scalar without quotes can begin with a character. */
function canBeginPlain(character: string, following: number, inFlow: boolean): boolean {
  if (character === "-") return following !== SPACE && following !== TAB;
  if (character === "?" || character === ":") return !inFlow && !isBlankOrEnd(following);
  return !isBlankOrEnd(character.charCodeAt(0)) && !",[]{}#&*!|>'\"%@`".includes(character);
}
