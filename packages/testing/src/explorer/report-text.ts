import { faultText } from "./fault.ts";
import type { Exploration, Finding } from "./finding.ts";
import type { Timeline, TimelineEntry } from "./timeline.ts";

/** A finding as text, with its timeline: what the terminal shows. */
export function findingText(finding: Finding): string {
  const { oracle, message, faults, also: others = [], seed, timeline, runs } = finding;
  const also = runs > 1 ? ` (in ${runs} runs)` : "";
  if (timeline.length === 0) return `${oracle}: ${message}`;
  // What a pass does to the whole scenario is in its message.
  const isClean = faults.length === 0 && !timeline.some(({ type }) => type === "fault");
  const cause = isClean ? ["  without any fault"] : faults.map((fault) => `  fault: ${faultText(fault)}`);
  const same = others.map((faults) => `  also: ${faults.map(faultText).join(" and ") || "without any fault"}`);
  return [`${oracle}: ${message}${also}`, ...cause, ...same, `  seed: ${seed}`, "", timelineText(timeline)].join("\n");
}

/** The result of an exploration in one line. */
export function explorationText(exploration: Exploration): string {
  const { runs, points, pruned, earlier, findings, accepted, deterministic, stopped, seed } = exploration;
  const parts = [
    findings.length === 0 ? "no findings" : `${findings.length} findings`,
    `${runs} runs`,
    `faults at ${points} points`,
    `${pruned} equivalent faults skipped`,
    `seed ${seed}`,
  ];
  if (accepted.length > 0) parts.push(`${accepted.length} accepted findings found again`);
  if (earlier > 0) parts.push(`${earlier} faults passed earlier`);
  if (!deterministic) parts.push("not deterministic: two runs without faults differ");
  if (stopped) parts.push(`stopped: ${stopped}`);
  return parts.join(", ");
}

/** Lines that repeat are folded beyond this many lines. */
const LONGEST = 120;
/** Lines kept before and after each fault when a timeline is folded. */
const AROUND = 25;

/** A timeline as text, one line for each entry; a long one keeps what is around its faults and at its end. */
export function timelineText(timeline: Timeline): string {
  const kept = timeline.length <= LONGEST ? timeline.map((_, i) => i) : importantLines(timeline);
  const lines: string[] = [];
  let last = -1;
  for (const i of kept) {
    if (i > last + 1) lines.push(`  … ${i - last - 1} more`);
    lines.push(`  ${entryText(timeline[i]!)}`);
    last = i;
  }
  if (last < timeline.length - 1) lines.push(`  … ${timeline.length - 1 - last} more`);
  return lines.join("\n");
}

function importantLines(timeline: Timeline): number[] {
  const marks = timeline.flatMap(({ type, who }, i) => (type === "fault" || who === "user" ? [i] : []));
  const faults = timeline.flatMap(({ type }, i) => (type === "fault" ? [i] : []));
  const isKept = (i: number) =>
    marks.includes(i) || faults.some((at) => Math.abs(at - i) <= AROUND) || i >= timeline.length - AROUND;
  return timeline.flatMap((_, i) => (isKept(i) ? [i] : []));
}

/** One line: when, at which version, who, what, with which result. */
export function entryText(entry: TimelineEntry): string {
  const { at, revision, who, process, what, type } = entry;
  const actor = process === undefined ? who : `${who} #${process}`;
  const done = type === "event" ? `receives ${what}` : type === "fault" ? `FAULT ${what}` : what;
  return [time(at), `v${revision}`.padStart(6), actor.padEnd(12), done, ...details(entry)].join(" ");
}

function details({ result, version, live }: TimelineEntry): string[] {
  const parts: string[] = [];
  if (result !== undefined) parts.push(`→ ${result}`);
  if (version !== undefined) parts.push(`version ${version}`);
  if (live !== undefined) parts.push(live === "deleted" ? "(stale: it is deleted)" : `(stale: it is at ${live})`);
  return parts;
}

function time(ms: number): string {
  return `${(ms / 1000).toFixed(3).padStart(9)} s`;
}
