import type { Fault } from "./fault.ts";
import type { Finding } from "./finding.ts";

/** A finding that is known and accepted, as a baseline file has it. */
export type AcceptedFinding = Pick<Finding, "oracle" | "message">;

/** How many faults a finding lists that show the same. */
const MOST_SHOWN = 20;
/** The values of a differing field depend on the moment of the fault; the field does not. */
const VALUES = /: expected .*?, but it is [^;]*/g;

/**
 * What makes two findings one: the same oracle reports the same, whichever fault shows it. Numbers and the values of differing fields do
 * not count.
 */
export function findingKey({ oracle, message }: AcceptedFinding): string {
  return JSON.stringify([oracle, message.replace(VALUES, "").replace(/\d+/g, "N")]);
}

/** What an exploration has found: one finding for each cause, with the faults that show it. */
export class Findings {
  readonly #found = new Map<string, Finding>();
  readonly #accepted: ReadonlySet<string>;
  readonly #onFinding: ((finding: Finding) => void) | undefined;

  /** `onFinding` is called with each one that is new and not accepted. */
  constructor(accepted: readonly AcceptedFinding[] = [], onFinding?: (finding: Finding) => void) {
    this.#accepted = new Set(accepted.map(findingKey));
    this.#onFinding = onFinding;
  }

  has(finding: AcceptedFinding): boolean {
    return this.#found.has(findingKey(finding));
  }

  /** Adds a finding, or the faults of one that is known. Returns whether it is new. */
  add(finding: Finding): boolean {
    const key = findingKey(finding);
    const known = this.#found.get(key);
    this.#found.set(key, known ? combined(known, finding) : finding);
    if (known) return false;
    if (!this.#accepted.has(key)) this.#onFinding?.(finding);
    return true;
  }

  /** Those that are not accepted. */
  get all(): Finding[] {
    return [...this.#found].filter(([key]) => !this.#accepted.has(key)).map(([, finding]) => finding);
  }

  /** Those that are. */
  get accepted(): Finding[] {
    return [...this.#found].filter(([key]) => this.#accepted.has(key)).map(([, finding]) => finding);
  }
}

function combined(known: Finding, more: Finding): Finding {
  const also: (readonly Fault[])[] = [...(known.also ?? [])];
  const texts = new Set([known.faults, ...also].map((faults) => JSON.stringify(faults)));
  for (const faults of [more.faults, ...(more.also ?? [])]) {
    if (also.length < MOST_SHOWN && !texts.has(JSON.stringify(faults))) also.push(faults);
  }
  return { ...known, runs: known.runs + more.runs, ...(also.length > 0 && { also }) };
}
