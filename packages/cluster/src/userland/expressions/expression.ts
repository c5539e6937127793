import { RE2JS } from "re2js";
import type { Effort } from "../effort.ts";
import { ExpressionError, re2Syntax, type SyntaxOptions } from "./posix-syntax.ts";

export interface ExpressionOptions extends SyntaxOptions {
  readonly ignoreCase?: boolean;
  /** The text is a literal. */
  readonly fixed?: boolean;
  /** It must match a whole line, or whole words. */
  readonly whole?: "line" | "word";
}

/** Where an expression matches. */
export interface Match {
  readonly start: number;
  readonly end: number;
  /** The whole match, and its groups; undefined are those that take no part in it. */
  readonly groups: readonly (string | undefined)[];
}

/** The most work that one match may take (characters times instructions): it is done in one go. */
const LARGEST_MATCH = 4 * 1024 * 1024;
/** Of that work, what is one step. */
const PER_STEP = 256;
/** Steps of compiling an instruction. */
const COMPILING = 2;
const MOST_COMPILED = 64;

const compiled = new Map<string, RE2JS>();

/**
 * A regular expression of a container. RE2 matches it in time that grows with the length of the text alone, whatever the
 * expression: that of JavaScript would let a pod stop the whole process. As POSIX says, the longest match wins.
 */
export class Expression {
  readonly #source: string;
  readonly #regex: RE2JS;
  readonly #size: number;

  private constructor(source: string, regex: RE2JS) {
    this.#source = source;
    this.#regex = regex;
    this.#size = regex.programSize();
  }

  /** Throws an {@link ExpressionError} when it is not valid. */
  static async compile(source: string, options: ExpressionOptions, effort: Effort): Promise<Expression> {
    const plain = re2Syntax(options.fixed ? source.replaceAll(/[\\^$.*[\]]/g, "\\$&") : source, {
      ...options,
      extended: options.extended && !options.fixed,
    });
    const whole = options.whole === "line" ? `^(?:${plain})$` : options.whole ? `\\b(?:${plain})\\b` : plain;
    const flags = RE2JS.DOTALL | RE2JS.LONGEST_MATCH | (options.ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    const expression = new Expression(source, regexOf(source, whole, flags));
    await effort.spend(COMPILING * expression.#size);
    return expression;
  }

  async test(text: string, effort: Effort): Promise<boolean> {
    const pause = this.#pay(text.length, effort);
    if (pause) await pause;
    return this.#regex.test(text);
  }

  /** All matches, from left to right. */
  async *matches(text: string, effort: Effort): AsyncGenerator<Match, void, void> {
    const matcher = this.#regex.matcher(text);
    let at = 0;
    for (;;) {
      await this.#pay(text.length - at, effort);
      if (!matcher.find()) return;
      const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, index) => matcher.group(index) ?? undefined);
      at = matcher.end();
      yield { start: matcher.start(), end: at, groups };
    }
  }

  #pay(length: number, effort: Effort): Promise<void> | undefined {
    const work = length * this.#size;
    if (work > LARGEST_MATCH) throw new ExpressionError(this.#source, "the line is too long for it");
    return effort.spend(1 + work / PER_STEP);
  }
}

function regexOf(source: string, re2: string, flags: number): RE2JS {
  const key = `${flags} ${re2}`;
  const known = compiled.get(key);
  if (known) return known;
  try {
    const made = RE2JS.compile(re2, flags);
    if (compiled.size >= MOST_COMPILED) compiled.clear();
    compiled.set(key, made);
    return made;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ExpressionError(source, why.replace(/^error parsing regexp: /, ""));
  }
}
