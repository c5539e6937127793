import type { FaultFamily } from "./fault-family.ts";
import type { Exploration, Finding } from "./finding.ts";
import type { PassProblem } from "./passes/pass.ts";

const NOTHING: Exploration = {
  seed: 1,
  runs: 0,
  points: 0,
  tried: {},
  pruned: 0,
  earlier: 0,
  covered: 0,
  deterministic: true,
  stopped: undefined,
  findings: [],
};

/** Explorations of several scenarios as one. */
export function merged(parts: readonly Exploration[], first: Partial<Exploration> = {}): Exploration {
  return parts.reduce((sum, part) => add(sum, part), { ...NOTHING, ...first });
}

function add(a: Exploration, b: Exploration): Exploration {
  const tried = { ...a.tried };
  for (const [family, count] of Object.entries(b.tried) as [FaultFamily, number][]) {
    tried[family] = (tried[family] ?? 0) + count;
  }
  return {
    seed: b.seed,
    runs: a.runs + b.runs,
    points: a.points + b.points,
    tried,
    pruned: a.pruned + b.pruned,
    earlier: a.earlier + b.earlier,
    covered: a.covered + b.covered,
    deterministic: a.deterministic && b.deterministic,
    stopped: a.stopped ?? b.stopped,
    findings: [...a.findings, ...b.findings],
  };
}

/** A problem that a pass over the whole scenario has found. Its message tells what was done. */
export function passFinding(oracle: string, { message, timeline }: PassProblem, seed: number): Finding {
  return { oracle, message, faults: [], seed, timeline, runs: 1 };
}
