import type { FaultFamily } from "./fault-family.ts";
import type { Exploration, Finding } from "./finding.ts";
import { Findings } from "./findings.ts";
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
  accepted: [],
};

/** Explorations of several scenarios as one. */
export function merged(parts: readonly Exploration[], first: Partial<Exploration> = {}): Exploration {
  return parts.reduce((sum, part) => add(sum, part), { ...NOTHING, ...first });
}

/** The results of all parts of one exploration as one: what several have found is one finding. */
export function mergedParts(parts: readonly Exploration[]): Exploration {
  const whole = merged(parts);
  const once = (all: readonly Finding[]) => {
    const findings = new Findings();
    for (const finding of all) findings.add(finding);
    return findings.all;
  };
  return { ...whole, findings: once(whole.findings), accepted: once(whole.accepted) };
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
    accepted: [...a.accepted, ...b.accepted],
  };
}

/** A problem that a pass over the whole scenario has found. Its message tells what was done. */
export function passFinding(oracle: string, { message, timeline }: PassProblem, seed: number): Finding {
  return { oracle, message, faults: [], seed, timeline, runs: 1 };
}
