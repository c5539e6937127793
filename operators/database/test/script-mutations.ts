import assert from "node:assert/strict";
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

/** Takes each line of a script away, one at a time; returns those that nobody missed. */
export async function unmissedLines({ script: name, unnoticed, holds }: Mutations): Promise<string[]> {
  await holds((_, text) => text);
  const unmissed: string[] = [];
  const used = new Set<Unnoticed>();
  for (const { at, text } of codeLines(name)) {
    const known = unnoticed.find(({ line }) => text.startsWith(line));
    if (known) {
      used.add(known);
      continue;
    }
    const isMissed = await holds(without(name, at)).then(
      () => false,
      () => true,
    );
    if (!isMissed) unmissed.push(`${name}:${at + 1}: ${text}`);
  }
  for (const one of unnoticed) assert.ok(used.has(one), `${name} has no line that begins with ${one.line}`);
  return unmissed;
}
