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

/** A line of a script. */
export interface CodeLine {
  /** From 0. */
  readonly at: number;
  readonly text: string;
  /** The function that it is in, or "" for what is in none. */
  readonly within: string;
}

/** A change of the scripts. */
export type Change = (name: string, text: string) => string;

/** A script, each of whose lines is taken away. */
export interface Mutations {
  readonly script: string;
  readonly unnoticed: readonly Unnoticed[];
  /** Fails if the script, changed in this way, does not do what it promises. */
  holds(change: Change, line?: CodeLine): Promise<void>;
  /** How many lines may be tried at the same time. Default: one. */
  readonly lanes?: number;
}

/** The lines of a script that do something. */
export function codeLines(name: string): CodeLine[] {
  let within = "";
  return script(name)
    .split("\n")
    .map((line, at) => {
      within = /^(\w+)\(\) \{/.exec(line)?.[1] ?? within;
      const here = { at, text: line.trim(), within };
      if (line === "}") within = "";
      return here;
    })
    .filter(({ text }) => text !== "" && !text.startsWith("#"));
}

/** The script without a line. */
export function without(name: string, at: number): Change {
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
 * Takes each line of a script away, one at a time; returns those that nobody missed, and says how many were tried. With
 * `within` milliseconds it begins at a line that chance chooses and tries as many as there is time for, so that several runs
 * have seen them all.
 */
export async function unmissedLines(mutations: Mutations, within = Number.POSITIVE_INFINITY): Promise<string[]> {
  const { script: name, unnoticed, holds, lanes = 1 } = mutations;
  const clock = realClock();
  await holds((_, text) => text);
  const all = codeLines(name);
  for (const { line } of unnoticed) {
    assert.ok(
      all.some(({ text }) => text.startsWith(line)),
      `${name} has no line that begins with ${line}`,
    );
  }
  const from = Number(process.env["KONVERGE_ALL_LINES"] ?? 1);
  const lines = all.filter(({ at, text }) => {
    if (at + 1 < from) return false;
    const isUnnoticed = unnoticed.some(({ line }) => text.startsWith(line));
    return !isUnnoticed && isReadable(without(name, at)(name, script(name)));
  });
  const first = within === Number.POSITIVE_INFINITY ? 0 : Math.floor(clock.random.next() * lines.length);
  const waiting = [...lines.slice(first), ...lines.slice(0, first)];
  const deadline = clock.monotonic() + within;
  const unmissed: string[] = [];
  let tried = 0;
  const lane = async () => {
    for (let line = waiting.shift(); line && clock.monotonic() < deadline; line = waiting.shift()) {
      const missed = await holds(without(name, line.at), line).then(
        () => undefined,
        (error: Error) => error.message.split("\n")[0] ?? "",
      );
      tried++;
      const where = `${name}:${line.at + 1}: ${line.text}`;
      if (missed === undefined) unmissed.push(where);
      if (process.env["KONVERGE_ALL_LINES"]) {
        process.stdout.write(missed === undefined ? `NOT MISSED ${where}\n` : `missed ${where}\n    ${missed}\n`);
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  process.stdout.write(
    `${name}: ${all.length} lines, ${all.length - lines.length} without which it cannot be read or that only cost, ` +
      `${tried} taken away, ${tried - unmissed.length} missed\n`,
  );
  return unmissed;
}
