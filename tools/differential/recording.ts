import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Difference } from "./compare.ts";
import type { Result } from "./play.ts";
import type { Script } from "./script.ts";

/** A real server's answers to a script, as digests of the normalized answers. */
interface Recorded {
  /** Of the script itself: a script that has been changed since is not recorded. */
  readonly script: string;
  /** One for each answer; empty where the two servers are known to differ. */
  readonly answers: readonly string[];
}

const FILE = new URL("./recorded.json", import.meta.url);

/**
 * What a real server said, kept so that the fast tests can hold the embedded one to it where there is no real one. Digests
 * are enough to notice a difference; to see it, play the script beside a real server.
 */
export class Recording {
  readonly #scripts: Map<string, Recorded>;

  constructor() {
    const text = existsSync(FILE) ? readFileSync(FILE, "utf8") : "{}";
    this.#scripts = new Map(Object.entries(JSON.parse(text) as Record<string, Recorded>));
  }

  /** Whether this script was recorded as it is. */
  has(script: Script): boolean {
    return this.#scripts.get(keyOf(script))?.script === digest(script.steps);
  }

  /** The number of the first answer that is not as recorded, counted from 1; undefined when all are. */
  firstDifference(script: Script, results: readonly Result[]): number | undefined {
    const { answers } = this.#scripts.get(keyOf(script))!;
    const length = Math.max(answers.length, results.length);
    for (let i = 0; i < length; i++) {
      const isSame = answers[i] !== undefined && results[i] !== undefined && answers[i] === digest(results[i]);
      if (answers[i] !== "" && !isSame) return i + 1;
    }
    return undefined;
  }

  /** Records what a real server said; not what the embedded one is known to answer differently. */
  set(script: Script, real: readonly Result[], known: readonly Difference[]): void {
    const excused = new Set(known.map(({ step }) => step));
    const answers = real.map((result) => (excused.has(result.step) ? "" : digest(result)));
    this.#scripts.set(keyOf(script), { script: digest(script.steps), answers });
  }

  /** Writes one line for each script, and drops removed ones. */
  save(scripts: readonly Script[]): void {
    const lines = scripts
      .map(keyOf)
      .filter((key) => this.#scripts.has(key))
      .sort()
      .map((key) => `${JSON.stringify(key)}:${JSON.stringify(this.#scripts.get(key))}`);
    writeFileSync(FILE, `{\n${lines.join(",\n")}\n}\n`);
  }
}

function keyOf({ file, name }: Script): string {
  return `${file.split("/").slice(-2).join("/")}: ${name}`;
}

function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 8);
}
