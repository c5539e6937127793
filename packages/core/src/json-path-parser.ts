import { append } from "./append.ts";
import { WholeFloat } from "./json.ts";

/** One step of a path, or one piece of a template. */
export type PathNode =
  | { type: "list"; nodes: PathNode[] }
  | { type: "text"; text: string }
  | { type: "field"; name: string }
  | { type: "array"; start?: number; end?: number; step?: number; isIndex: boolean }
  | { type: "filter"; left: PathNode[]; operator: string; right: PathNode[] }
  | { type: "constant"; value: number | bigint | boolean | WholeFloat }
  | { type: "wildcard" }
  | { type: "recursive" }
  | { type: "union"; branches: PathNode[][] }
  | { type: "identifier"; name: string };

/** A path that cannot be parsed, or that does not match the data. The message is client-go's. */
export class JsonPathError extends Error {
  override readonly name: string = "JsonPathError";
}

/** Parses a template: text, with paths between braces. */
export function parseJsonPathTemplate(template: string): PathNode[] {
  return new Parser(template).parse();
}

const DICT_KEY = /^'([^']*)'$/;
const SLICE = /^(-?[0-9]*)(:-?[0-9]*)?(:-?[0-9]*)?$/;
const COMPARISON = /^([^!<>=]+)([!<>=]+)(.+?)$/;
const END = "";

class Parser {
  readonly #characters: string[];
  readonly #root: PathNode[] = [];
  #position = 0;
  #start = 0;

  constructor(template: string) {
    this.#characters = [...template];
  }

  parse(): PathNode[] {
    while (this.#peek() !== END) {
      if (this.#peek() === "{") {
        this.#pushText();
        this.#skip(1);
        const nodes: PathNode[] = [];
        this.#root.push({ type: "list", nodes });
        this.#action(nodes);
      } else {
        this.#next();
      }
    }
    this.#pushText();
    return this.#root;
  }

  #pushText(): void {
    if (this.#position > this.#start) this.#root.push({ type: "text", text: this.#consume() });
  }

  /** What stands between two braces; leaves the position after the closing one. */
  #action(nodes: PathNode[]): void {
    while (!this.#startsWith("}")) {
      if (this.#startsWith("[?(")) this.#filter(nodes);
      else if (this.#startsWith("..")) this.#recursive(nodes);
      else this.#step(nodes);
    }
    this.#skip(1);
  }

  #step(nodes: PathNode[]): void {
    const character = this.#next();
    if (character === END || isLineEnd(character)) throw new JsonPathError("unclosed action");
    if (character === " " || character === "@" || character === "$") this.#consume();
    else if (character === "[") this.#array(nodes);
    else if (character === '"' || character === "'") this.#quote(nodes, character);
    else if (character === ".") this.#field(nodes);
    else if (/^[-+\p{Nd}]$/u.test(character)) this.#number(nodes);
    else if (isWordCharacter(character)) this.#identifier(nodes);
    else throw new JsonPathError(`unrecognized character in action: ${unicodeName(character)}`);
  }

  #identifier(nodes: PathNode[]): void {
    while (!isTerminator(this.#peek())) this.#next();
    const name = this.#consume();
    if (name === "true" || name === "false") nodes.push({ type: "constant", value: name === "true" });
    else nodes.push({ type: "identifier", name });
  }

  #recursive(nodes: PathNode[]): void {
    if (nodes.at(-1)?.type === "recursive") throw new JsonPathError("invalid multiple recursive descent");
    this.#skip(2);
    nodes.push({ type: "recursive" });
    if (isWordCharacter(this.#peek())) this.#field(nodes);
  }

  #number(nodes: PathNode[]): void {
    while (/^[.\p{Nd}]$/u.test(this.#peek())) this.#next();
    const text = this.#consume();
    if (!/^[-+]?([0-9]+(?:\.[0-9]*)?|\.[0-9]+)$/.test(text)) throw new JsonPathError(`cannot parse number ${text}`);
    nodes.push({ type: "constant", value: numberValue(text) });
  }

  #array(nodes: PathNode[]): void {
    for (let character = this.#next(); character !== "]"; character = this.#next()) {
      if (character === END || character === "\n") throw new JsonPathError("unterminated array");
    }
    const inside = this.#consume().slice(1, -1);
    const text = inside === "*" ? ":" : inside;
    const parts = text.split(",");
    if (parts.length > 1) {
      nodes.push({ type: "union", branches: parts.map((part) => parseAction(`[${withoutSpaces(part)}]`)) });
      return;
    }
    const key = DICT_KEY.exec(text);
    if (key) append(nodes, parseAction(`.${key[1]}`));
    else nodes.push(sliceNode(text));
  }

  #filter(nodes: PathNode[]): void {
    this.#skip(3);
    let quote = END;
    let isClosed = false;
    for (;;) {
      const character = this.#next();
      if (character === END || character === "\n") throw new JsonPathError("unterminated filter");
      if (character === '"' || character === "'") {
        if (quote === END) quote = character;
        else if (character === quote && this.#characters[this.#position - 2] !== "\\") isClosed = true;
      } else if (character === ")" && (quote !== END) === isClosed) break;
    }
    if (this.#next() !== "]") throw new JsonPathError("unclosed array expect ]");
    const text = this.#consume().slice(0, -2);
    const comparison = COMPARISON.exec(text);
    if (!comparison) {
      nodes.push({ type: "filter", left: parseAction(text), operator: "exists", right: [] });
      return;
    }
    const [, left, operator, right] = comparison as unknown as [string, string, string, string];
    nodes.push({ type: "filter", left: parseAction(left), operator, right: parseAction(right) });
  }

  #quote(nodes: PathNode[], quote: string): void {
    for (;;) {
      const character = this.#next();
      if (character === END || character === "\n") throw new JsonPathError("unterminated quoted string");
      if (character === quote && this.#characters[this.#position - 2] !== "\\") break;
    }
    const text = this.#consume();
    nodes.push({ type: "text", text: unquote(text) });
  }

  #field(nodes: PathNode[]): void {
    this.#consume();
    while (!isTerminator(this.#peek())) if (this.#next() === "\\") this.#next();
    const name = this.#consume();
    nodes.push(name === "*" ? { type: "wildcard" } : { type: "field", name: name.replaceAll("\\", "") });
  }

  #peek(): string {
    return this.#characters[this.#position] ?? END;
  }

  #next(): string {
    const character = this.#peek();
    if (character !== END) this.#position++;
    return character;
  }

  #startsWith(text: string): boolean {
    return [...text].every((character, i) => this.#characters[this.#position + i] === character);
  }

  /** The text since the last call. */
  #consume(): string {
    const text = this.#characters.slice(this.#start, this.#position).join("");
    this.#start = this.#position;
    return text;
  }

  #skip(count: number): void {
    this.#position += count;
    this.#start = this.#position;
  }
}

function parseAction(text: string): PathNode[] {
  const [first] = parseJsonPathTemplate(`{${text}}`);
  return first?.type === "list" ? first.nodes : [];
}

function numberValue(text: string): number | bigint | WholeFloat {
  const number = Number(text);
  if (!text.includes(".") && BigInt.asIntN(64, BigInt(text)) === BigInt(text)) {
    return Number.isSafeInteger(number) ? number : BigInt(text);
  }
  return Number.isInteger(number) ? new WholeFloat(number) : number;
}

function sliceNode(text: string): PathNode {
  const match = SLICE.exec(text);
  if (!match) throw new JsonPathError(`invalid array index ${text}`);
  const number = (digits: string) => {
    if (!/[0-9]/.test(digits)) throw new JsonPathError(`array index ${digits} is not a number`);
    return Number(digits);
  };
  const [, start = "", end, step] = match;
  return {
    type: "array",
    ...(start !== "" && { start: number(start) }),
    ...(end !== undefined && end !== ":" && { end: number(end.slice(1)) }),
    ...(step !== undefined && step !== ":" && { step: number(step.slice(1)) }),
    isIndex: end === undefined,
  };
}

const ESCAPES: Record<string, string> = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v", "\\": "\\" };

function unquote(text: string): string {
  const fail = () => new JsonPathError(`unquote string ${text} error invalid syntax`);
  const quote = text[0]!;
  const inside = text.slice(1, -1);
  if (text.length < 2 || text.at(-1) !== quote) throw fail();
  const pattern = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.?))|["']/gsu;
  return inside.replace(
    pattern,
    (found, hex?: string, short?: string, long?: string, octal?: string, letter?: string) => {
      if (found === quote || letter === "") throw fail();
      if (letter !== undefined) {
        if (letter === quote) return quote;
        const plain = ESCAPES[letter];
        if (plain === undefined) throw fail();
        return plain;
      }
      const digits = hex ?? short ?? long;
      const code =
        digits !== undefined ? Number.parseInt(digits, 16) : octal !== undefined ? Number.parseInt(octal, 8) : -1;
      if (code < 0) return found;
      const isSurrogate = code >= 0xd800 && code < 0xe000;
      if (code > 0x10ffff || (octal !== undefined && code > 255) || isSurrogate) throw fail();
      return String.fromCodePoint(code);
    },
  );
}

function isTerminator(character: string): boolean {
  return character === END || " \t\r\n.,[]$@{}".includes(character);
}

function isLineEnd(character: string): boolean {
  return character === "\r" || character === "\n";
}

function isWordCharacter(character: string): boolean {
  return /^[_\p{L}\p{Nd}]$/u.test(character);
}

/** `U+0023 '#'`, and without the character if it cannot be shown. */
function unicodeName(character: string): string {
  const code = `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
  return /^[ \p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(character) ? `${code} '${character}'` : code;
}

/** Without the spaces around it. (A pattern would look at each run of spaces once for each of them.) */
function withoutSpaces(text: string): string {
  let start = 0;
  let end = text.length;
  while (text[start] === " ") start++;
  while (end > start && text[end - 1] === " ") end--;
  return text.slice(start, end);
}
