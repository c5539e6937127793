/**
 * How the parser behaves on an unexpected token: it drops one token too many, makes up one that is missing, or leaves
 * the rule and skips to where a caller can go on. The words and the steps are those of the parser generator that
 * Kubernetes' CEL is built with, because its messages are what `kubectl apply` shows.
 */

import { expectedTokens, mayEnd, type Point, recoveryTokens } from "./grammar.ts";
import type { Tokens } from "./lexer.ts";
import { type Issue, NO_LOCATION, type Source } from "./source.ts";
import { isFixed, T, type Token, tokenName } from "./tokens.ts";

/** Thrown to leave the rule being parsed. */
export class Mismatch {
  /** The point at which parsing stopped. */
  readonly at: Point;
  readonly report: () => void;
  constructor(at: Point, report: () => void) {
    this.at = at;
    this.report = report;
  }
}

/** Thrown to abandon the whole expression. */
export class GiveUp {}

const MOST_RECOVERIES = 30;
const DEEPEST_RULE = 250;
const MOST_SKIPPED = 256;

/** The tokens being parsed, with what is known about errors so far. */
export class TokenStream {
  readonly issues: Issue[] = [];
  /** The points of the active rule calls, outermost first. */
  readonly callers: Point[] = [];
  /** How often each rule is inside itself. */
  readonly #depths = new Map<string, number>();
  readonly #tokens: readonly Token[];
  readonly #garbage: ReadonlySet<number>;
  readonly #source: Source;
  #at = 0;
  #isRecovering = false;
  #recoveries = 0;
  /** Where the last error was, and at which points: a second one at the same place must not stand still. */
  #lastErrorAt = -1;
  #lastErrorPoints = new Set<Point>();

  constructor(source: Source, { tokens, garbage }: Tokens) {
    this.#source = source;
    this.#tokens = tokens;
    this.#garbage = garbage;
  }

  /** Notes where a rule is called from. */
  from(at: Point): Point {
    this.callers.push(at);
    return at;
  }

  /** Begins a rule; what it returns is for its end. */
  enter(rule: string): number {
    const depth = this.#depths.get(rule) ?? 0;
    this.#depths.set(rule, depth + 1);
    if (depth < DEEPEST_RULE) return depth;
    const message = `expression recursion limit exceeded: ${DEEPEST_RULE}`;
    this.issues.push({ location: NO_LOCATION, message });
    throw new GiveUp();
  }

  leave(rule: string, depth: number): void {
    this.#depths.set(rule, depth);
  }

  /** The n-th token from here, from 1. */
  peek(n = 1): Token {
    return this.#tokens[Math.min(this.#at + n - 1, this.#tokens.length - 1)]!;
  }

  consume(): Token {
    const token = this.peek();
    if (token.type !== T.EOF) this.#at++;
    return token;
  }

  /** Takes a token known to be right. */
  take(): Token {
    this.#endRecovery();
    return this.consume();
  }

  /** Takes a token of the type; repairs what can be repaired, otherwise leaves the rule. */
  match(type: number, at: Point): Token {
    return this.peek().type === type ? this.take() : this.#repair(at);
  }

  /** Called before a choice: a token that no alternative begins with is dropped if the one after it fits. */
  sync(at: Point): void {
    if (this.#isFine(at)) return;
    if (!this.#dropOne(at)) throw this.#mismatch(at);
  }

  /** Called after each round of something repeated that must be followed by something: skips what fits neither. */
  syncNextRound(at: Point): void {
    if (this.#isFine(at)) return;
    this.#reportUnwanted(at);
    const stops = recoveryTokens(this.callers);
    for (const type of expectedTokens(at.before, this.callers)) stops.add(type);
    this.#skipUntil(stops, Number.POSITIVE_INFINITY);
  }

  /** For a choice that cannot be made: no alternative goes on from the `first` token with the `offending` one. */
  noViableAlternative(at: Point, first: Token, offending: Token): Mismatch {
    return new Mismatch(at, () => {
      const text = first.type === T.EOF ? "<EOF>" : this.#textBetween(first, offending);
      const reserved = /^.(true|false|null)$/.exec(text)?.[1];
      this.#notify(
        offending,
        reserved === undefined
          ? `no viable alternative at input ${quote(text)}`
          : `mismatched input '${reserved}' expecting IDENTIFIER`,
      );
    });
  }

  /** Ends a rule that a {@link Mismatch} has left. */
  recover(mismatch: unknown): void {
    if (!(mismatch instanceof Mismatch)) throw mismatch;
    if (!this.#isRecovering) {
      this.#isRecovering = true;
      mismatch.report();
    }
    this.#countRecovery();
    let skipped = 0;
    if (this.#lastErrorAt === this.#at && this.#lastErrorPoints.has(mismatch.at)) {
      this.consume();
      skipped++;
    }
    this.#lastErrorAt = this.#at;
    this.#lastErrorPoints.add(mismatch.at);
    this.#skipUntil(recoveryTokens(this.callers), MOST_SKIPPED - skipped);
  }

  #textBetween(first: Token, last: Token): string {
    const isKept = (_: string, i: number) => !this.#garbage.has(first.start + i);
    return this.#source.points.slice(first.start, last.end).filter(isKept).join("");
  }

  #isFine(at: Point): boolean {
    return this.#isRecovering || mayEnd(at.before) || at.before.has(this.peek().type);
  }

  #endRecovery(): void {
    this.#isRecovering = false;
    this.#lastErrorAt = -1;
    this.#lastErrorPoints.clear();
  }

  #repair(at: Point): Token {
    this.#countRecovery();
    if (this.#dropOne(at)) return this.consume();
    if (!expectedTokens(at.after, this.callers).has(this.peek().type)) throw this.#mismatch(at);
    const expected = expectedTokens(at.before, this.callers);
    this.#reportOnce(() => `missing ${list(expected)} at ${display(this.peek())}`);
    return this.#makeUp(Math.min(...expected));
  }

  #makeUp(type: number): Token {
    const current = this.peek();
    const place = current.type === T.EOF && this.#at > 0 ? this.#tokens[this.#at - 1]! : current;
    const what = type === T.EOF ? "EOF" : isFixed(type) ? tokenName(type) : "undefined";
    return { type, text: `<missing ${what}>`, start: place.start, end: place.start };
  }

  #dropOne(at: Point): boolean {
    if (!expectedTokens(at.before, this.callers).has(this.peek(2).type)) return false;
    this.#reportUnwanted(at);
    this.consume();
    this.#endRecovery();
    return true;
  }

  #mismatch(at: Point): Mismatch {
    const token = this.peek();
    const expected = expectedTokens(at.before, this.callers);
    return new Mismatch(at, () =>
      this.#notify(token, `mismatched input ${display(token)} expecting ${list(expected)}`),
    );
  }

  #reportUnwanted(at: Point): void {
    this.#reportOnce(
      () => `extraneous input ${display(this.peek())} expecting ${list(expectedTokens(at.before, this.callers))}`,
    );
  }

  #reportOnce(message: () => string): void {
    if (this.#isRecovering) return;
    this.#isRecovering = true;
    this.#notify(this.peek(), message());
  }

  #notify(token: Token, message: string): void {
    this.issues.push({ location: this.#source.locate(token.start), message: `Syntax error: ${message}` });
  }

  #countRecovery(): void {
    if (this.#recoveries++ < MOST_RECOVERIES) return;
    this.#notify(this.peek(), `error recovery attempt limit exceeded: ${MOST_RECOVERIES}`);
    throw new GiveUp();
  }

  #skipUntil(stops: ReadonlySet<number>, most: number): void {
    for (let skipped = 0; this.peek().type !== T.EOF && !stops.has(this.peek().type); skipped++) {
      if (skipped >= most) {
        const message = `error recovery token lookahead limit exceeded: ${MOST_SKIPPED}`;
        this.issues.push({ location: { line: -1, column: -1 }, message });
        throw new GiveUp();
      }
      this.consume();
    }
  }
}

function list(types: ReadonlySet<number>): string {
  const names = [...types].sort((a, b) => a - b).map(tokenName);
  return names.length > 1 ? `{${names.join(", ")}}` : names[0]!;
}

function display(token: Token): string {
  return quote(token.text);
}

function quote(text: string): string {
  return `'${text.replaceAll("\t", "\\t").replaceAll("\n", "\\n").replaceAll("\r", "\\r")}'`;
}
