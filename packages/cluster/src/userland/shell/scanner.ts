import { type Script, ShellSyntaxError, type Word, type WordPart } from "./syntax.ts";

const OPERATOR = /&&|\|\||;;|&>|<<<|<<-|<<|>>|>&|<&|[;&|<>()\n]/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
/** Digits in the number of a parameter. */
const LONGEST_NUMBER = 10;
const ENDS_WORD = new Set([" ", "\t", "\n", ";", "&", "|", "<", ">", "(", ")"]);
/** Characters that are always literal. */
const PLAIN = /[A-Za-z0-9_.,:@%+/=-]+/y;
const PLAIN_WORD = /^[^\s;&|<>()'"$`\\]+/;
/** More than the characters of any reserved word. */
const LONGEST_PLAIN = 80;
const SPECIAL = /^(\d+|[@*#?$!-])/;
/** Compound commands and expansions within one another. */
const DEEPEST = 250;

/** Reads a script, up to one of the operators or reserved words that end it. */
type ParseScript = (scanner: Scanner, ends: readonly string[]) => Script;

/** Reads the words and operators of a script, one after the other. */
export class Scanner {
  readonly text: string;
  at = 0;
  /** Documents that begin after the present line, and what receives their content. */
  readonly #documents: { end: string; raw: boolean; tabs: boolean; give: (content: Word) => void }[] = [];

  #depth: number;

  readonly #parse: ParseScript;

  /** `parse`: reads the scripts of command substitutions. */
  constructor(text: string, parse: ParseScript, depth = 0) {
    this.text = text;
    this.#parse = parse;
    this.#depth = depth;
  }

  /** Reads something that can be within itself. */
  deeper<T>(read: () => T): T {
    if (this.#depth >= DEEPEST) throw new ShellSyntaxError("syntax error: nested too deeply");
    this.#depth++;
    try {
      return read();
    } finally {
      this.#depth--;
    }
  }

  /** Passes over blanks, comments and continued lines. */
  skipBlanks(): void {
    for (;;) {
      const char = this.text[this.at];
      if (char === " " || char === "\t") this.at++;
      else if (char === "\\" && this.text[this.at + 1] === "\n") this.at += 2;
      else if (char === "#") while (this.at < this.text.length && this.text[this.at] !== "\n") this.at++;
      else return;
    }
  }

  get atEnd(): boolean {
    this.skipBlanks();
    return this.at >= this.text.length;
  }

  /** The operator that comes next, if one does. */
  peekOperator(): string | undefined {
    this.skipBlanks();
    OPERATOR.lastIndex = this.at;
    return OPERATOR.exec(this.text)?.[0];
  }

  takeOperator(): string {
    const operator = this.peekOperator();
    if (operator === undefined) throw this.error();
    this.at += operator.length;
    if (operator === "\n") this.#readDocuments();
    return operator;
  }

  /** The plain word that comes next, if it is without quotes and expansions. */
  peekPlain(): string | undefined {
    this.skipBlanks();
    return PLAIN_WORD.exec(this.text.slice(this.at, this.at + LONGEST_PLAIN))?.[0];
  }

  /** A digit right before a redirection is the descriptor that it is about. */
  takeDescriptor(): number | undefined {
    this.skipBlanks();
    const found = /^(\d)(?=[<>])/.exec(this.text.slice(this.at, this.at + 2));
    if (!found) return undefined;
    this.at++;
    return Number(found[1]);
  }

  awaitDocument(end: string, raw: boolean, tabs: boolean, give: (content: Word) => void): void {
    this.#documents.push({ end, raw, tabs, give });
  }

  error(what = "unexpected"): ShellSyntaxError {
    const next = this.text.slice(this.at, this.at + 20).split("\n")[0];
    return new ShellSyntaxError(next ? `syntax error: ${what} "${next}"` : "syntax error: unexpected end of file");
  }

  word(): Word {
    this.skipBlanks();
    const parts: WordPart[] = [];
    while (this.at < this.text.length && !ENDS_WORD.has(this.text[this.at]!)) this.#part(parts, false);
    if (parts.length === 0) throw this.error();
    return parts;
  }

  /** What stands between here and a closing character that is not quoted. */
  until(close: string): Word {
    const parts: WordPart[] = [];
    while (!this.text.startsWith(close, this.at)) {
      if (this.at >= this.text.length) throw this.error();
      this.#part(parts, false);
    }
    this.at += close.length;
    return parts;
  }

  #part(parts: WordPart[], inQuotes: boolean): void {
    const char = this.text[this.at]!;
    if (char === "\\") {
      const next = this.text[this.at + 1] ?? "";
      this.at += 2;
      if (next === "\n") return;
      const kept = inQuotes && !'$`"\\'.includes(next) ? `\\${next}` : next;
      parts.push({ kind: "text", text: kept, quoted: true });
    } else if (char === "'" && !inQuotes) {
      const end = this.text.indexOf("'", this.at + 1);
      if (end < 0) throw new ShellSyntaxError("syntax error: unterminated quoted string");
      parts.push({ kind: "text", text: this.text.slice(this.at + 1, end), quoted: true });
      this.at = end + 1;
    } else if (char === '"' && !inQuotes) {
      this.at++;
      this.#quoted(parts, '"');
    } else if (char === "$") this.#dollar(parts, inQuotes);
    else if (char === "`") {
      const end = this.text.indexOf("`", this.at + 1);
      if (end < 0) throw new ShellSyntaxError("syntax error: unterminated backquote");
      const text = this.text.slice(this.at + 1, end).replaceAll(/\\([$`\\])/g, "$1");
      const script = this.deeper(() => this.#parse(new Scanner(text, this.#parse, this.#depth), []));
      this.at = end + 1;
      parts.push({ kind: "command", script, quoted: inQuotes });
    } else {
      PLAIN.lastIndex = this.at;
      const text = PLAIN.exec(this.text)?.[0] ?? char;
      this.at += text.length;
      const last = parts.at(-1);
      if (last?.kind === "text" && last.quoted === inQuotes)
        parts[parts.length - 1] = { ...last, text: last.text + text };
      else parts.push({ kind: "text", text, quoted: inQuotes });
    }
  }

  #quoted(parts: WordPart[], close: string): void {
    parts.push({ kind: "text", text: "", quoted: true });
    while (this.text[this.at] !== close) {
      if (this.at >= this.text.length) throw new ShellSyntaxError("syntax error: unterminated quoted string");
      this.#part(parts, true);
    }
    this.at++;
  }

  #dollar(parts: WordPart[], quoted: boolean): void {
    const next = this.at + 1;
    if (this.text.startsWith("((", next)) {
      this.at += 3;
      parts.push({ kind: "arithmetic", expression: this.deeper(() => this.#arithmetic()), quoted });
    } else if (this.text.startsWith("(", next)) {
      this.at += 2;
      parts.push({ kind: "command", script: this.deeper(() => this.#nested()), quoted });
    } else if (this.text.startsWith("{", next)) {
      this.at += 2;
      this.deeper(() => this.#braced(parts, quoted));
    } else {
      const name = this.#name(next) ?? /[0-9@*#?$!-]/.exec(this.text[next] ?? "")?.[0];
      this.at += 1 + (name?.length ?? 0);
      parts.push(name ? { kind: "variable", name, quoted } : { kind: "text", text: "$", quoted });
    }
  }

  #name(at: number): string | undefined {
    NAME.lastIndex = at;
    return NAME.exec(this.text)?.[0];
  }

  #nested(): Script {
    const inner = new Scanner(this.text, this.#parse, this.#depth);
    inner.at = this.at;
    const script = this.#parse(inner, [")"]);
    if (inner.takeOperator() !== ")") throw inner.error();
    this.at = inner.at;
    return script;
  }

  #arithmetic(): Word {
    const parts: WordPart[] = [];
    for (let depth = 0; ; ) {
      if (this.at >= this.text.length) throw this.error();
      if (depth === 0 && this.text.startsWith("))", this.at)) break;
      if (this.text[this.at] === "(") depth++;
      if (this.text[this.at] === ")") depth--;
      this.#part(parts, true);
    }
    this.at += 2;
    return parts;
  }

  #braced(parts: WordPart[], quoted: boolean): void {
    const isLength = this.text[this.at] === "#" && this.text[this.at + 1] !== "}";
    if (isLength) this.at++;
    const name = this.#name(this.at) ?? SPECIAL.exec(this.text.slice(this.at, this.at + LONGEST_NUMBER))?.[0];
    if (name === undefined) throw new ShellSyntaxError("syntax error: bad substitution");
    this.at += name.length;
    const operator = /^(:[-=?+]|[-=?+]|%%?|##?)/.exec(this.text.slice(this.at, this.at + 2))?.[0];
    this.at += operator?.length ?? 0;
    const operand = this.#operand(quoted);
    parts.push({
      kind: "variable",
      name,
      quoted,
      ...(isLength ? { operator: "length" } : operator && { operator, operand }),
    });
  }

  #operand(inQuotes: boolean): Word {
    const parts: WordPart[] = [];
    while (this.text[this.at] !== "}") {
      if (this.at >= this.text.length) throw this.error();
      if (inQuotes && this.text[this.at] === '"') {
        this.at++;
        this.#quoted(parts, '"');
      } else this.#part(parts, inQuotes);
    }
    this.at++;
    return parts;
  }

  #readDocuments(): void {
    for (const { end, raw, tabs, give } of this.#documents.splice(0)) {
      let content = "";
      for (;;) {
        if (this.at >= this.text.length) break;
        const stop = this.text.indexOf("\n", this.at);
        let line = this.text.slice(this.at, stop < 0 ? undefined : stop);
        this.at = stop < 0 ? this.text.length : stop + 1;
        if (tabs) line = line.replace(/^\t+/, "");
        if (line === end) break;
        content += `${line}\n`;
      }
      if (raw) give([{ kind: "text", text: content, quoted: true }]);
      else {
        const inner = new Scanner(`${content.replaceAll('"', '\\"')}"`, this.#parse, this.#depth);
        const parts: WordPart[] = [];
        inner.#quoted(parts, '"');
        give(parts);
      }
    }
  }
}
