import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { realClock } from "konverge/time";
import { script } from "../src/scripts.ts";
import { InVain } from "./postgres.ts";
import { type Change, type Trace, traced } from "./script-trace.ts";

/** A line whose loss no test can notice, and why. */
export interface Unnoticed {
  /** How the line begins, without its indentation. */
  readonly line: string;
  readonly why: string;
}

/** A word of a line that is turned into another one. */
export interface Turn {
  readonly from: string;
  readonly to: string;
}

/** A script that is put to the test. */
export interface Subject {
  readonly script: string;
  readonly unnoticed: readonly Unnoticed[];
  readonly turns: readonly Turn[];
}

/** Something that a script makes possible. */
export interface Scene {
  readonly name: string;
  /** Fails if scripts, changed in this way, do not do what they promise. */
  play(change: Change): Promise<void>;
}

/** A script with one line taken away or turned. */
interface Mutant {
  readonly script: string;
  /** The line, from 1. */
  readonly at: number;
  readonly what: string;
  readonly text: string;
}

/** A scene as it went with scripts as they are. */
interface Rehearsed extends Scene {
  readonly trace: Trace;
  readonly ms: number;
}

const clock = realClock();
/** How often a scene is repeated when a busy machine makes its result unclear. */
const ATTEMPTS = 3;
/** If set, all lines are tried, without a time limit, and each is logged; other than 1, those that match this pattern. */
const CHOICE = process.env["KONVERGE_ALL_LINES"];
const ALL = CHOICE !== undefined;
/** Otherwise the time limit for the lines of some scripts, in milliseconds; the first line is chosen at random. */
const WITHIN = ALL ? Number.POSITIVE_INFINITY : 60_000;

/**
 * Mutation testing of scripts: removes each line, one at a time, and inverts some; returns the lines that no scene misses.
 *
 * Scenes first run with the original scripts, to measure their duration and the lines they execute. A line is then tried in
 * the scenes that execute it, the quickest first, until one fails. The reason of a failure is logged: an assertion or a
 * timeout. On a busy machine anything may time out: a failure counts only if the scene succeeds with the original scripts
 * right afterwards.
 */
export async function unmissedLines(
  subjects: readonly Subject[],
  scenes: readonly Scene[],
  { lanes = 1 }: { readonly lanes?: number } = {},
): Promise<string[]> {
  const rehearsed: Rehearsed[] = [];
  await inLanes(scenes, lanes, async (scene) => void rehearsed.push(await rehearse(scene)));
  rehearsed.sort((a, b) => a.ms - b.ms);
  const all = subjects.flatMap(mutantsOf).filter((one) => !ALL || CHOICE === "1" || RegExp(CHOICE).test(named(one)));
  const first = ALL ? 0 : Math.floor(clock.random.next() * all.length);
  const deadline = clock.monotonic() + WITHIN;
  const unmissed: string[] = [];
  const counts = { wrong: 0, "in vain": 0, tried: 0 };
  await inLanes([...all.slice(first), ...all.slice(0, first)], lanes, async (mutant) => {
    if (clock.monotonic() > deadline) return;
    const verdict = await tried(mutant, rehearsed);
    counts.tried++;
    if (verdict.missed) counts[verdict.missed]++;
    if (!verdict.missed) unmissed.push(`${named(mutant)} (${verdict.how})`);
    if (ALL) process.stdout.write(`${verdict.missed ?? "NOT MISSED"}: ${named(mutant)}\n    ${verdict.how}\n`);
  });
  process.stdout.write(
    `${subjects.map((one) => one.script).join(", ")}: ${all.length} lines taken away or turned, ${counts.tried} tried, ` +
      `${counts.wrong} missed by what went wrong, ${counts["in vain"]} by what was waited for in vain\n`,
  );
  return unmissed;
}

async function rehearse(scene: Scene): Promise<Rehearsed> {
  const trace = await traced((change) => scene.play(change));
  const began = clock.monotonic();
  await scene.play((_, text) => text);
  return { ...scene, trace, ms: clock.monotonic() - began };
}

const named = ({ script: name, at, what }: Mutant) => `${name}:${at} ${what}`;

/** Plays the scenes that come to a line without it. */
async function tried(mutant: Mutant, scenes: readonly Rehearsed[]) {
  const players = comingTo(mutant.script, mutant.at, scenes);
  for (const scene of players) {
    const error = await failure(scene, (name, text) => (name === mutant.script ? mutant.text : text));
    if (!error) continue;
    const said = error.message.split("\n").filter((line) => line.trim() !== "");
    const how = `${scene.name}: ${said.slice(0, 2).join(" ")}`;
    return { missed: error instanceof InVain ? ("in vain" as const) : ("wrong" as const), how };
  }
  return { missed: undefined, how: `not in ${players.map((scene) => scene.name).join(", ")}` };
}

/** How a scene fails with a change; undefined if it does not. One that fails without the change, too, is played again. */
async function failure(scene: Scene, change: Change): Promise<Error | undefined> {
  let last: Error | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const error = await errorOf(scene.play(change));
    if (!error) return undefined;
    last = await errorOf(scene.play((_, text) => text));
    if (!last) return error;
  }
  throw new Error(`${scene.name} does not hold with scripts as they are: this machine is too busy`, { cause: last });
}

const errorOf = (played: Promise<void>): Promise<Error | undefined> =>
  played.then(
    () => undefined,
    (error: Error) => error,
  );

/**
 * The scenes that come to a line. A line that is none to the shell, being a part of a longer command, is that with which the
 * command began: the last one before it in its function that is ever come to, or else any.
 */
function comingTo(name: string, at: number, scenes: readonly Rehearsed[]): readonly Rehearsed[] {
  const lines = script(name).split("\n");
  for (let line = at; line > 0 && !/^\w+\(\) \{/.test(lines[line - 1]!); line--) {
    const found = scenes.filter(({ trace }) => trace.has(`${name}:${line}`));
    if (found.length > 0) return found;
  }
  return scenes;
}

/** All that is tried of a script. Without some lines it cannot be read at all: they are needed. */
function mutantsOf({ script: name, unnoticed, turns }: Subject): Mutant[] {
  const lines = script(name).split("\n");
  const begins = (line: string, { line: start }: Unnoticed) => line.trim().startsWith(start);
  for (const one of unnoticed) {
    assert.ok(
      lines.some((line) => begins(line, one)),
      `${name} has no line that begins with ${one.line}`,
    );
  }
  const taken = lines.flatMap((line, index): Mutant[] => {
    if (/^\s*(#|$)/.test(line) || unnoticed.some((one) => begins(line, one))) return [];
    const text = lines.toSpliced(index, 1).join("\n");
    return isReadable(text) ? [{ script: name, at: index + 1, what: `without ${line.trim()}`, text }] : [];
  });
  const turned = turns.map(({ from, to }): Mutant => {
    const at = lines.findIndex((line) => line.includes(from));
    assert.equal(script(name).split(from).length, 2, `${name} has ${from} once`);
    const text = script(name).replace(from, () => to);
    assert.ok(isReadable(text), `${name} cannot be read with ${to}`);
    return { script: name, at: at + 1, what: `with ${to} for ${from}`, text };
  });
  return [...taken, ...turned];
}

/** Whether a shell can read a script at all. */
function isReadable(text: string): boolean {
  return spawnSync("sh", ["-n"], { input: text }).status === 0;
}

/** Runs an action for each item, in at most `lanes` parallel lanes. */
async function inLanes<T>(all: readonly T[], lanes: number, act: (one: T) => Promise<void>): Promise<void> {
  const waiting = [...all];
  const lane = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await act(one);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
