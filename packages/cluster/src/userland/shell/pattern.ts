import { own } from "@konverge/core";
import type { Effort } from "../effort.ts";
import { ShellSyntaxError } from "./syntax.ts";

/** One place of a pattern: any number of characters, or one that passes the test. */
type Token = "*" | ((char: string) => boolean);

/** Comparisons that are one step of work, and after how many they are counted. */
const PER_STEP = 256;
const COUNTED_AFTER = 32 * PER_STEP;
/** The longest pattern in which something is special, in characters. */
const LONGEST = 64 * 1024;
const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[A-Za-z0-9]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what the class is about
  cntrl: /[\x00-\x1f\x7f]/,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /\s/,
  upper: /[A-Z]/,
  xdigit: /[0-9A-Fa-f]/,
};
const NAMED = /\[:([a-z]+):\]/y;

/**
 * A pattern as shells have them: `*`, `?`, `[a-z]`. Matching tracks all positions in the pattern that the text so far can have reached, so that
 * it never takes longer than the length of the pattern times that of the text.
 */
export class Glob {
  readonly #tokens: readonly Token[];
  /** What it matches, if that is one text only. */
  readonly #literal: string | undefined;

  constructor(pattern: string) {
    this.#literal = /[\\*?[]/.test(pattern) ? undefined : pattern;
    if (this.#literal === undefined && pattern.length > LONGEST) throw new ShellSyntaxError("pattern is too long");
    this.#tokens = this.#literal === undefined ? tokensOf(pattern) : [];
  }

  /** Whether it matches a whole text. */
  async matches(text: string, effort: Effort): Promise<boolean> {
    if (this.#literal !== undefined) return this.#literal === text;
    return (await fits(this.#tokens, text.length, (at) => text[at]!, effort)).longest === text.length;
  }

  /** How much of the beginning of a text it matches, at least or at most; undefined when it matches nothing. */
  async beginning(text: string, longest: boolean, effort: Effort): Promise<number | undefined> {
    if (this.#literal !== undefined) return text.startsWith(this.#literal) ? this.#literal.length : undefined;
    const found = await fits(this.#tokens, text.length, (at) => text[at]!, effort);
    return longest ? found.longest : found.shortest;
  }

  /** The same of a text's end. */
  async ending(text: string, longest: boolean, effort: Effort): Promise<number | undefined> {
    if (this.#literal !== undefined) return text.endsWith(this.#literal) ? this.#literal.length : undefined;
    const last = text.length - 1;
    const found = await fits(this.#tokens.toReversed(), text.length, (at) => text[last - at]!, effort);
    return longest ? found.longest : found.shortest;
  }
}

/** Finds the shortest and the longest beginning of a text that tokens match. */
async function fits(
  tokens: readonly Token[],
  length: number,
  char: (at: number) => string,
  effort: Effort,
): Promise<{ shortest?: number; longest?: number }> {
  const found: { shortest?: number; longest?: number } = {};
  /** The places of the pattern that have been reached, and when each was last. */
  let places: number[] = [];
  const reachedAt = new Float64Array(tokens.length + 1).fill(-1);
  const reach = (place: number, at: number, into: number[]) => {
    for (let next = place; reachedAt[next] !== at; next++) {
      reachedAt[next] = at;
      into.push(next);
      if (tokens[next] !== "*") return;
    }
  };
  reach(0, 0, places);
  let count = 0;
  for (let at = 0; places.length > 0; at++) {
    if (reachedAt[tokens.length] === at) {
      found.shortest ??= at;
      found.longest = at;
    }
    if (at === length) break;
    const next: number[] = [];
    for (const place of places) {
      const token = tokens[place];
      if (token === "*") reach(place, at + 1, next);
      else if (token?.(char(at))) reach(place + 1, at + 1, next);
    }
    count += places.length;
    places = next;
    if (count < COUNTED_AFTER) continue;
    await effort.spend(count / PER_STEP);
    count = 0;
  }
  return found;
}

function tokensOf(pattern: string): Token[] {
  const tokens: Token[] = [];
  let hasSets = true;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]!;
    const set = char === "[" && hasSets ? setAt(pattern, at) : undefined;
    if (char === "*") {
      if (tokens.at(-1) !== "*") tokens.push("*");
    } else if (char === "?") tokens.push(() => true);
    else if (set) {
      tokens.push(set.includes);
      at = set.end;
    } else {
      // Where one set is not closed, those after it are not either.
      if (char === "[") hasSets = false;
      const literal = char === "\\" && at + 1 < pattern.length ? pattern[++at]! : char;
      tokens.push((one) => one === literal);
    }
  }
  return tokens;
}

/** The set of characters that begins at a bracket; undefined when nothing closes it. */
function setAt(pattern: string, start: number): { includes: (char: string) => boolean; end: number } | undefined {
  const isNegated = pattern[start + 1] === "!" || pattern[start + 1] === "^";
  const first = start + (isNegated ? 2 : 1);
  const classes = new Set<RegExp>();
  const ranges: Range[] = [];
  for (let at = first; at < pattern.length; at++) {
    if (pattern[at] === "]" && at > first) {
      const merged = mergedRanges(ranges);
      const has = (char: string) => isIn(merged, char) || classes.values().some((one) => one.test(char));
      return { includes: (char) => has(char) !== isNegated, end: at };
    }
    NAMED.lastIndex = at;
    const [whole, name = ""] = NAMED.exec(pattern) ?? [];
    const known = own(CLASSES, name);
    if (whole !== undefined && known) {
      classes.add(known);
      at += whole.length - 1;
      continue;
    }
    if (pattern[at] === "\\" && at + 1 < pattern.length) at++;
    const from = pattern[at]!;
    const isRange = pattern[at + 1] === "-" && pattern[at + 2] !== "]" && pattern[at + 2] !== undefined;
    if (isRange) at += 2;
    ranges.push({ from, to: isRange ? pattern[at]! : from });
  }
  return undefined;
}

interface Range {
  readonly from: string;
  to: string;
}

function mergedRanges(ranges: readonly Range[]): Range[] {
  const merged: Range[] = [];
  for (const { from, to } of ranges.toSorted((a, b) => (a.from < b.from ? -1 : 1))) {
    const last = merged.at(-1);
    if (last && from <= last.to) last.to = to > last.to ? to : last.to;
    else if (from <= to) merged.push({ from, to });
  }
  return merged;
}

function isIn(ranges: readonly Range[], char: string): boolean {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[middle]!.to < char) low = middle + 1;
    else high = middle;
  }
  return low < ranges.length && ranges[low]!.from <= char;
}

/** A text as a pattern that matches it alone. */
export function literally(text: string): string {
  return text.replaceAll(/[\\*?[\]]/g, "\\$&");
}

/** Whether an unquoted text is a file name pattern. */
export function hasPattern(text: string): boolean {
  const open = text.indexOf("[");
  return /[*?]/.test(text) || (open >= 0 && text.includes("]", open + 2));
}
