/** An invalid expression, with the message that programs print. */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError";

  constructor(source: string, why: string) {
    super(`bad regex '${source.slice(0, 100)}': ${why}`);
  }
}

export interface SyntaxOptions {
  /** Extended syntax: groups, counts and alternatives need no backslash. */
  readonly extended: boolean;
  /** A backslash is special between brackets too, as awk has it. */
  readonly escapesInSets?: boolean;
}

/** The largest expression, in instructions: compiling it is done in one go. */
const LARGEST = 1000;
const TOO_BIG = "Regular expression too big";
const CLASSES = new Set("alnum alpha blank cntrl digit graph lower print punct space upper xdigit".split(" "));
/** Escapes that mean the same in RE2, and those that are spelled otherwise. */
const SAME = new Set("wWsSdDbBnrtfva");
const RESPELLED: Readonly<Record<string, string>> = { "<": "\\b", ">": "\\b", "`": "\\A", "'": "\\z" };
const COUNT = /\{(\d*)(?:(,)(\d*))?\}/y;
const BASIC_COUNT = /\\\{(\d*)(?:(,)(\d*))?\\\}/y;

/**
 * A POSIX expression, basic or extended with GNU's additions, in the syntax of RE2. What RE2 does not have, which is
 * back-references, is refused.
 */
export function re2Syntax(source: string, options: SyntaxOptions): string {
  return new Translation(source, options).result();
}

/** A group, or the whole expression, as far as it has been read. */
interface Frame {
  /** Instructions before the last atom, and of it. */
  size: number;
  atomSize: number;
  /** Where the last atom begins in the result; undefined when there is none that could be repeated. */
  atom: number | undefined;
  isRepeated: boolean;
  readonly start: number;
}

class Translation {
  readonly #source: string;
  readonly #options: SyntaxOptions;
  readonly #outer: Frame[] = [];
  #frame: Frame = newFrame(0);
  #at = 0;
  #result = "";

  constructor(source: string, options: SyntaxOptions) {
    this.#source = source;
    this.#options = options;
  }

  result(): string {
    while (this.#at < this.#source.length) this.#next();
    if (this.#outer.length > 0) throw this.#error("Unmatched ( or \\(");
    return this.#result;
  }

  #next(): void {
    const char = this.#source[this.#at]!;
    const { extended } = this.#options;
    if (this.#count()) return;
    this.#at++;
    if (char === "\\") this.#escape();
    else if (char === "[") this.#set();
    else if (char === ".") this.#atom(".");
    else if (char === "*") this.#repeat("*");
    else if (char === "^") this.#caret();
    else if (char === "$") this.#dollar();
    else if (!extended) this.#literal(char);
    else if (char === "(") this.#open();
    else if (char === ")") this.#close();
    else if (char === "|") this.#alternative();
    else if (char === "+" || char === "?") this.#repeat(char);
    else this.#literal(char);
  }

  #escape(): void {
    const char = this.#source[this.#at++];
    if (char === undefined) throw this.#error("Trailing backslash");
    const respelled = RESPELLED[char];
    if (/[1-9]/.test(char)) throw this.#error("back-references are more than a simulated container understands");
    else if (!this.#options.extended && char === "(") this.#open();
    else if (!this.#options.extended && char === ")") this.#close();
    else if (!this.#options.extended && char === "|") this.#alternative();
    else if (!this.#options.extended && (char === "+" || char === "?")) this.#repeat(char);
    else if (respelled) this.#atom(respelled);
    else if (SAME.has(char)) this.#atom(`\\${char}`);
    else this.#literal(char);
  }

  /** `{2,3}`: false when the next characters are not a count. */
  #count(): boolean {
    const form = this.#options.extended ? COUNT : BASIC_COUNT;
    form.lastIndex = this.#at;
    const [whole, least = "", comma = "", most = ""] = form.exec(this.#source) ?? [];
    if (whole === undefined || this.#frame.atom === undefined || (least === "" && comma === "")) return false;
    this.#at += whole.length;
    const low = Number(least || 0);
    const high = comma ? (most === "" ? undefined : Number(most)) : low;
    if (high !== undefined && high < low) throw this.#error("Invalid content of \\{\\}");
    this.#repeat(`{${low}${comma}${most}}`, Math.max(low + 1, high ?? 0, 1));
    return true;
  }

  /** `^` is an anchor at the beginning, and everywhere in extended expressions. */
  #caret(): void {
    if (!this.#options.extended && this.#result.length > this.#frame.start) this.#literal("^");
    else this.#anchor("^");
  }

  #dollar(): void {
    const isEnd = this.#at === this.#source.length || /^\\[)|]/.test(this.#source.slice(this.#at, this.#at + 2));
    if (!this.#options.extended && !isEnd) this.#literal("$");
    else this.#anchor("$");
  }

  #anchor(text: string): void {
    this.#commit(1);
    this.#result += text;
  }

  #literal(char: string): void {
    this.#atom(/[\\^$.*+?()[\]{}|]/.test(char) ? `\\${char}` : char);
  }

  #atom(text: string, size = 1): void {
    this.#commit(size);
    this.#frame.atom = this.#result.length;
    this.#result += text;
  }

  /** What comes next is not part of the last atom. */
  #commit(size: number): void {
    const frame = this.#frame;
    frame.size += frame.atomSize;
    frame.atomSize = size;
    frame.atom = undefined;
    frame.isRepeated = false;
    if (frame.size + frame.atomSize > LARGEST) throw this.#error(TOO_BIG);
  }

  /** A repetition operator without an operand is a literal. */
  #repeat(text: string, times = 1): void {
    const frame = this.#frame;
    if (frame.atom === undefined) {
      this.#literal(text);
      return;
    }
    // Two in a row would mean something else to RE2.
    if (frame.isRepeated) this.#result = `${this.#result.slice(0, frame.atom)}(?:${this.#result.slice(frame.atom)})`;
    this.#result += text;
    frame.isRepeated = true;
    frame.atomSize = frame.atomSize * times + 2;
    if (frame.size + frame.atomSize > LARGEST) throw this.#error(TOO_BIG);
  }

  #open(): void {
    this.#commit(0);
    this.#frame.atom = this.#result.length;
    this.#outer.push(this.#frame);
    this.#result += "(";
    this.#frame = newFrame(this.#result.length);
  }

  #close(): void {
    const outer = this.#outer.pop();
    if (!outer) throw this.#error("Unmatched ) or \\)");
    outer.atomSize = this.#frame.size + this.#frame.atomSize + 2;
    this.#frame = outer;
    this.#result += ")";
    if (outer.size + outer.atomSize > LARGEST) throw this.#error(TOO_BIG);
  }

  #alternative(): void {
    this.#commit(1);
    this.#result += "|";
    this.#frame = { ...newFrame(this.#result.length), size: this.#frame.size + this.#frame.atomSize };
  }

  /** A set in brackets, the first of which has been read. */
  #set(): void {
    const source = this.#source;
    let set = "[";
    if (source[this.#at] === "^") {
      set += "^";
      this.#at++;
    }
    for (let isFirst = true; ; isFirst = false) {
      const char = source[this.#at];
      if (char === undefined) throw this.#error("Unmatched [, [^, [:, [., or [=");
      if (char === "]" && !isFirst) break;
      if (source.startsWith("[:", this.#at)) {
        set += this.#class();
        continue;
      }
      const from = this.#element();
      if (source[this.#at] !== "-" || source[this.#at + 1] === "]") {
        set += inSet(from);
        continue;
      }
      this.#at++;
      const to = this.#element();
      if (to < from) throw this.#error("Invalid range end");
      set += `${inSet(from)}-${inSet(to)}`;
    }
    this.#at++;
    this.#atom(`${set}]`);
  }

  #class(): string {
    const end = this.#source.indexOf(":]", this.#at);
    const name = this.#source.slice(this.#at + 2, end);
    if (end < 0 || !CLASSES.has(name)) throw this.#error("Invalid character class name");
    this.#at = end + 2;
    return `[:${name}:]`;
  }

  /** One character of a set, however it is written. */
  #element(): string {
    const source = this.#source;
    const [, collated] = /^\[([.=])/.exec(source.slice(this.#at, this.#at + 2)) ?? [];
    if (collated !== undefined && source.startsWith(`${collated}]`, this.#at + 3)) {
      this.#at += 5;
      return source[this.#at - 3]!;
    }
    const code = source.codePointAt(this.#at);
    if (code === undefined) throw this.#error("Unmatched [, [^, [:, [., or [=");
    const char = String.fromCodePoint(code);
    this.#at += char.length;
    const next = source[this.#at];
    if (char !== "\\" || next === undefined) return char;
    const escaped = { n: "\n", t: "\t" }[next];
    if (escaped === undefined && !this.#options.escapesInSets) return char;
    this.#at++;
    return escaped ?? next;
  }

  #error(why: string): ExpressionError {
    return new ExpressionError(this.#source, why);
  }
}

function newFrame(start: number): Frame {
  return { size: 0, atomSize: 0, atom: undefined, isRepeated: false, start };
}

function inSet(char: string): string {
  return /[\\\]^[-]/.test(char) ? `\\${char}` : char;
}
