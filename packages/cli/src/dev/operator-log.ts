import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Activity } from "../demo/operator-activity.ts";

interface Line {
  readonly level?: string | number;
  readonly msg?: string;
  readonly operator?: string;
  readonly controller?: string;
  readonly object?: string;
  readonly outcome?: string;
  readonly writes?: readonly string[];
  readonly err?: { message?: string; stack?: string };
}

/** Levels of lines that are only counted. */
const QUIET = new Set<unknown>(["trace", "debug", 10, 20]);

/** What operators of this process do and what fails in them, read off their log. */
export class OperatorLog {
  readonly #folder: string;
  readonly #tell: (who: string, text: string) => void;
  readonly #activities = new Map<string, { reconciles: number; writes: number; last: string }>();
  readonly #problems = new Map<string, string>();

  /** `folder` is the project's: errors name places in it. */
  constructor(folder: string, tell: (who: string, text: string) => void) {
    this.#folder = folder;
    this.#tell = tell;
  }

  get activities(): Activity[] {
    return [...this.#activities].map(([operator, activity]) => ({ operator, ...activity }));
  }

  /** What fails now, each with its place in the project. */
  get problems(): string[] {
    return [...this.#problems.values()];
  }

  /** Something that fails apart from reconciles. Undefined: it no longer does. */
  report(what: string, error: unknown): void {
    if (error === undefined) {
      this.#problems.delete(what);
      return;
    }
    const text = problemText(error, this.#folder);
    if (this.#problems.get(what) !== text) this.#tell("error", text);
    this.#problems.set(what, text);
  }

  /** A new version of the operators is at work: what failed in the last one may not fail in it. */
  restarted(): void {
    this.#problems.clear();
  }

  /** Takes text of the log: lines of JSON. */
  write(text: string): void {
    for (const line of text.split("\n")) {
      if (line.trim() !== "") this.#read(line);
    }
  }

  #read(text: string): void {
    let line: Line;
    try {
      line = JSON.parse(text) as Line;
    } catch {
      line = { msg: text };
    }
    const who = line.controller ?? line.operator ?? "konverge";
    if (line.outcome !== undefined) this.#reconciled(who, line);
    else if (line.err) this.report(line.msg ?? "", Object.assign(new Error(said(line)), { stack: line.err.stack }));
    else if (!QUIET.has(line.level)) this.#tell(who, line.msg ?? "");
  }

  #reconciled(who: string, line: Line): void {
    const { object = "", writes = [], err } = line;
    const known = this.#activities.get(who) ?? { reconciles: 0, writes: 0, last: "" };
    this.#activities.set(who, known);
    known.reconciles++;
    known.writes += writes.length;
    for (const write of writes) this.#tell(who, write);
    if (writes.length > 0) known.last = writes.at(-1)!;
    const key = `${who} ${object}`;
    if (!err) {
      this.#problems.delete(key);
      return;
    }
    const error = Object.assign(new Error(`${key}: ${err.message ?? line.msg}`), { stack: err.stack });
    known.last = `${object} failed`;
    this.report(key, error);
  }
}

function said({ msg = "", err }: Line): string {
  return err?.message && !msg.includes(err.message) ? `${msg}: ${err.message}` : msg;
}

/** An error in one line with the place in the project that it comes from: `src/cache.ts:31:11: …`. */
export function problemText(error: unknown, folder: string): string {
  if (!(error instanceof Error)) return String(error);
  const message = error.message.replaceAll(`${folder}/`, "").replaceAll(/\?konverge-version=\d+/g, "");
  for (const [, url, place] of (error.stack ?? "").matchAll(/(file:\/\/[^\s()]+?):(\d+:\d+)\)?$/gm)) {
    const at = new URL(url!);
    at.search = "";
    const path = relative(folder, fileURLToPath(at));
    if (path.startsWith("..") || path.includes("node_modules")) continue;
    return message.includes(`${path}:`) ? message : `${path}:${place}: ${message}`;
  }
  return message;
}
