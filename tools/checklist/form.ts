import type { TestEnvironment } from "@konverge/operator-suite";

/** One way to run the checks of a document: the namespace, and whatever names and values its lines take. */
export interface Case {
  readonly namespace: string;
}

/** Checks one line: failures are recorded under its number, and the story continues. */
export type CheckLine = (line: string, check: () => Promise<void>) => Promise<void>;

/** Lines of a document that are checked together, in one test environment: each line builds on the ones before. */
export interface Story<C extends Case = Case> {
  readonly title: string;
  /** What each line asks for, by its number: `{ L96: "kubectl lists the models" }`. Each must be checked. */
  readonly lines: Readonly<Record<string, string>>;
  /** Default: both. A real control plane with simulated nodes has no logs, for instance. */
  readonly where?: "embedded" | "real" | "both";
  /** It runs kubectl, which lives in real time. */
  readonly kubectl?: boolean;
  play(stage: TestEnvironment, values: C, line: CheckLine): Promise<void>;
}

/** A document, and how each of its lines is checked. */
export interface ChecklistDocument<C extends Case = Case> {
  /** Orders and names it: `D0`. Several files may add to one document. */
  readonly id: string;
  readonly name: string;
  /** The document's own names and values first, then others: everything is checked with each of them. */
  readonly cases: readonly [C, C, ...C[]];
  readonly stories: readonly Story<C>[];
}

/** Describes the checks of a document. */
export function checklist<C extends Case>(document: ChecklistDocument<C>): ChecklistDocument<C> {
  const numbers = new Set<string>();
  for (const number of document.stories.flatMap(({ lines }) => Object.keys(lines))) {
    if (!/^L\d+(-\d+)?$/.test(number)) throw new TypeError(`${document.id}: ${number} is no line: write L96 or L96-98`);
    if (numbers.has(number)) throw new TypeError(`${document.id}: two stories check ${number}`);
    numbers.add(number);
  }
  return document;
}

/** A story of a single line. */
export function line<C extends Case>(
  number: string,
  title: string,
  check: (stage: TestEnvironment, values: C) => Promise<void>,
  options: Pick<Story<C>, "where" | "kubectl"> = {},
): Story<C> {
  return {
    title,
    lines: { [number]: title },
    ...options,
    play: (stage, values, note) => note(number, () => check(stage, values)),
  };
}
