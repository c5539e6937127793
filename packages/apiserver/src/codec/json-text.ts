import { MAX_JSON_DEPTH, parseJsonNumbers, quoted, surveyJson } from "@konverge/core";
import { DecodeError } from "./decode-error.ts";
import { checkSurvey, checkValue } from "./part-limit.ts";

/** What a strict decoder says of a field that stood in a text twice, and where it did the second time. */
export interface Duplicate {
  readonly problem: string;
  readonly at: number;
}

/** A text that was read. */
export interface JsonText {
  readonly value: unknown;
  readonly duplicates: readonly Duplicate[];
  /** Where a field stands; known only where there are duplicates to be put in order with others. */
  readonly place?: (field: string) => number;
}

/** Parses JSON; throws a {@link DecodeError} with the words of Go's scanner. Decimals without a fraction are marked. */
export function parseJsonText(text: string): JsonText {
  const survey = surveyJson(text);
  const { keys, depth, isPlain } = survey;
  checkSurvey(survey);
  if (depth > MAX_JSON_DEPTH) scan(text);
  let value: unknown;
  try {
    value = isPlain ? JSON.parse(text) : parseJsonNumbers(text);
  } catch (error) {
    scan(text);
    throw error;
  }
  checkValue(value);
  return { value, ...(countKeys(value) === keys ? { duplicates: [] } : scan(text)) };
}

function scan(text: string): Omit<JsonText, "value"> {
  const duplicates = new Scanner(text).scan();
  // Only where there are unknown fields, too, does it matter where each field stands.
  let places: ReadonlyMap<string, number> | undefined;
  const place = (field: string) => {
    if (!places) {
      const all = new Map<string, number>();
      new Scanner(text, all).scan();
      places = all;
    }
    return places.get(field) ?? 0;
  };
  return { duplicates, place };
}

/** How many keys an object and all that is in it have: those in its text, if none came twice. */
export function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) for (const item of value) count += countKeys(item);
  else if (Object.getPrototypeOf(value) === Object.prototype) {
    for (const key in value) count += 1 + countKeys((value as Record<string, unknown>)[key]);
  }
  return count;
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

/** Reads JSON by hand: slow, but it knows where it is. Throws what Go's scanner says, or reports which keys come twice. */
class Scanner {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  readonly #duplicates: Duplicate[] = [];
  readonly #places: Map<string, number> | undefined;

  /** Notes in `places` where each field stands first. */
  constructor(text: string, places?: Map<string, number>) {
    this.#text = text;
    this.#places = places;
  }

  /** The keys that come twice. */
  scan(): Duplicate[] {
    this.#value("");
    this.#space();
    if (this.#at < this.#text.length) this.#wrong("after top-level value");
    return this.#duplicates;
  }

  #value(path: string): void {
    this.#space();
    const first = this.#text[this.#at];
    if (first === "{" || first === "[") {
      if (++this.#depth > MAX_JSON_DEPTH) this.#wrong("exceeded max depth");
      if (first === "{") this.#object(path);
      else this.#array(path);
      this.#depth--;
    } else if (first === '"') this.#string();
    else if (first === "t") this.#literal("true");
    else if (first === "f") this.#literal("false");
    else if (first === "n") this.#literal("null");
    else if (first !== undefined && /[-0-9]/.test(first)) this.#number();
    else this.#wrong("looking for beginning of value");
  }

  #object(path: string): void {
    const keys = new Set<string>();
    this.#at++;
    this.#space();
    if (this.#take("}")) return;
    for (;;) {
      this.#space();
      if (this.#text[this.#at] !== '"') this.#wrong("looking for beginning of object key string");
      const key = this.#string();
      const place = path === "" ? key : `${path}.${key}`;
      if (keys.has(key)) this.#duplicates.push({ problem: `duplicate field ${quoted(place)}`, at: this.#at });
      else this.#places?.set(place, this.#at);
      keys.add(key);
      this.#space();
      if (!this.#take(":")) this.#wrong("after object key");
      this.#value(place);
      this.#space();
      if (this.#take("}")) return;
      if (!this.#take(",")) this.#wrong("after object key:value pair");
    }
  }

  #array(path: string): void {
    this.#at++;
    this.#space();
    if (this.#take("]")) return;
    for (let index = 0; ; index++) {
      this.#value(`${path}[${index}]`);
      this.#space();
      if (this.#take("]")) return;
      if (!this.#take(",")) this.#wrong("after array element");
    }
  }

  #string(): string {
    const start = this.#at++;
    for (;;) {
      const character = this.#text[this.#at];
      if (character === undefined || character < " ") this.#wrong("in string literal");
      this.#at++;
      if (character === '"') break;
      if (character !== "\\") continue;
      const letter = this.#text[this.#at];
      if (letter === undefined || !'bfnrt\\/"u'.includes(letter)) this.#wrong("in string escape code");
      this.#at++;
      for (let i = 0; letter === "u" && i < 4; i++, this.#at++) {
        if (!/[0-9a-fA-F]/.test(this.#text[this.#at] ?? "")) this.#wrong("in \\u hexadecimal character escape");
      }
    }
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  #literal(word: string): void {
    for (let i = 0; i < word.length; i++, this.#at++) {
      if (this.#text[this.#at] !== word[i]) this.#wrong(`in literal ${word} (expecting ${quotedCharacter(word[i]!)})`);
    }
  }

  #number(): void {
    NUMBER.lastIndex = this.#at;
    const match = NUMBER.exec(this.#text);
    this.#at += match ? match[0].length : 1;
    if (!match) this.#wrong("in numeric literal");
    if (this.#text[this.#at] === ".") {
      this.#at++;
      this.#wrong("after decimal point in numeric literal");
    }
    if (/[eE]/.test(this.#text[this.#at] ?? "")) {
      this.#at += /[+-]/.test(this.#text[this.#at + 1] ?? "") ? 2 : 1;
      this.#wrong("in exponent of numeric literal");
    }
  }

  #space(): void {
    while (this.#at < this.#text.length && " \t\r\n".includes(this.#text[this.#at]!)) this.#at++;
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #wrong(where: string): never {
    const character = this.#text[this.#at];
    if (character === undefined) throw new DecodeError("unexpected end of JSON input");
    throw new DecodeError(`invalid character ${quotedCharacter(character)} ${where}`);
  }
}

function quotedCharacter(character: string): string {
  if (character === "'") return "'\\''";
  if (character === '"') return "'\"'";
  return `'${quoted(character).slice(1, -1)}'`;
}
