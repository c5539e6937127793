import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { realClock } from "konverge";
import { script } from "../src/scripts.ts";

/** A line whose loss no test can notice, and why. */
export interface Unnoticed {
  /** How the line begins, without its indentation. */
  readonly line: string;
  readonly why: string;
}

/** A script, each of whose lines is taken away. */
export interface Mutations {
  readonly script: string;
  readonly unnoticed: readonly Unnoticed[];
  /** Fails if the script, changed in this way, does not do what it promises. */
  holds(change: (name: string, text: string) => string): Promise<void>;
  /** Told of each line that was taken away. */
  tried?(line: string, missed: boolean): void;
}

/** The lines of a script that do something, by number. */
export function codeLines(name: string): { readonly at: number; readonly text: string }[] {
  return script(name)
    .split("\n")
    .map((text, at) => ({ at, text: text.trim() }))
    .filter(({ text }) => text !== "" && !text.startsWith("#"));
}

/** The script without a line. */
export function without(name: string, at: number): (other: string, text: string) => string {
  return (other, text) =>
    other === name
      ? text
          .split("\n")
          .filter((_, index) => index !== at)
          .join("\n")
      : text;
}

/** Whether a shell can read a script at all. */
function isReadable(text: string): boolean {
  return spawnSync("sh", ["-n"], { input: text }).status === 0;
}

/**
 * Takes each line of a script away, one at a time; returns those that nobody missed. With `within` milliseconds it begins at
 * a line that chance chooses and tries as many as there is time for, so that several runs have seen them all.
 */
export async function unmissedLines(mutations: Mutations, within = Number.POSITIVE_INFINITY): Promise<string[]> {
  const { script: name, unnoticed, holds } = mutations;
  const clock = realClock();
  await holds((_, text) => text);
  const lines = codeLines(name);
  for (const { line } of unnoticed) {
    assert.ok(
      lines.some(({ text }) => text.startsWith(line)),
      `${name} has no line that begins with ${line}`,
    );
  }
  const first = within === Number.POSITIVE_INFINITY ? 0 : Math.floor(clock.random.next() * lines.length);
  const deadline = clock.monotonic() + within;
  const unmissed: string[] = [];
  for (const { at, text } of [...lines.slice(first), ...lines.slice(0, first)]) {
    if (clock.monotonic() > deadline) break;
    if (unnoticed.some(({ line }) => text.startsWith(line))) continue;
    const change = without(name, at);
    if (!isReadable(change(name, script(name)))) continue;
    const isMissed = await holds(change).then(
      () => false,
      () => true,
    );
    mutations.tried?.(`${name}:${at + 1}: ${text}`, isMissed);
    if (!isMissed) unmissed.push(`${name}:${at + 1}: ${text}`);
  }
  return unmissed;
}
