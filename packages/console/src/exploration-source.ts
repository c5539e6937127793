import { readFile } from "node:fs/promises";
import type { History } from "./history.ts";
import type { FindingSummary, StepEntry } from "./protocol.ts";

/** What is read of the `exploration.json` that the fault explorer writes. */
interface ExplorationFile {
  readonly findings: readonly {
    readonly oracle: string;
    readonly message: string;
    readonly seed: number;
    readonly timeline: readonly {
      readonly at: number;
      readonly revision: number;
      readonly who: string;
      readonly process?: number;
      readonly type: string;
      readonly what: string;
      readonly result?: string;
      readonly version?: string;
      readonly live?: string;
    }[];
  }[];
}

/** Fills a history with the timelines of all findings of an exploration. Times are counted from the start of each run. */
export async function loadExploration(file: string, history: History): Promise<readonly FindingSummary[]> {
  const { findings } = parsed(await readFile(file, "utf8"), file);
  return findings.map(({ oracle, message, seed, timeline }, finding) => {
    for (const { at, revision, who, process, type, what, result, version, live } of timeline) {
      const entry: Omit<StepEntry, "id"> = {
        type: "step",
        at,
        finding,
        step: type,
        who: process === undefined ? who : `${who} #${process}`,
        what,
        revision,
        ...(result !== undefined && { result }),
        ...(version !== undefined && { version }),
        ...(live !== undefined && { live }),
      };
      history.add(entry);
    }
    const faults = timeline.filter(({ type }) => type === "fault").map(({ what }) => what);
    return { oracle, message, seed, faults };
  });
}

function parsed(text: string, file: string): ExplorationFile {
  const problem = (what: string) => new Error(`${file} ${what}: name the exploration.json that konverge explore wrote`);
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw problem("is not JSON");
  }
  const { findings } = (content ?? {}) as Partial<ExplorationFile>;
  if (!Array.isArray(findings) || !findings.every((one) => Array.isArray(one?.timeline))) {
    throw problem("is not an exploration");
  }
  if (findings.length === 0) throw new Error(`${file} has no findings: there is nothing to step through`);
  return { findings };
}
