import type { Snapshot } from "@konverge/apiserver";
import type { StartableOperator } from "../environment/test-environment.ts";
import { endStateDifferences } from "../explorer/end-state.ts";
import { comparedRuns, loadOf } from "./compared-runs.ts";
import type { Rehearsal, RehearsalFinding } from "./rehearsal.ts";
import { type RehearsalStart, type RehearsedRun, rehearsedRun, settledStart } from "./rehearsed-run.ts";

/** Options of {@link rehearse}. */
export interface RehearseOptions {
  /** The state that the new version is tried on: of a live cluster, or of a test. */
  readonly state: Snapshot;
  readonly operator: StartableOperator;
  /** The version that runs now. Default: none, and everything is reported that the new version does. */
  readonly against?: StartableOperator;
  /** Settings of both versions. Default: those that they define. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Crash the new version at its first writes, at most this many. Default: 0. */
  readonly crashes?: number;
  readonly seed?: number;
  /** Called before each run. */
  onProgress?(what: string): void;
}

/**
 * Runs a new version of an operator on a state, on virtual time, and reports what it does that the old version does not do to
 * the same state.
 *
 * ```ts
 * const { findings } = await rehearse({ state: loadSnapshot("prod.snapshot"), operator: next, against: current });
 * assert.deepEqual(findings, []);
 * ```
 */
export async function rehearse(options: RehearseOptions): Promise<Rehearsal> {
  const { operator, against, settings, crashes = 0, onProgress = () => {} } = options;
  onProgress("the state without an operator");
  const start = { ...(await settledStart(options.state, options.seed ?? 1)), ...(settings && { settings }) };
  onProgress("the old version");
  const before = against && (await rehearsedRun(against, start));
  onProgress("the new version");
  const now = await rehearsedRun(operator, start);
  const tried = now.failure === undefined && !now.isHalted ? Math.min(crashes, now.steps) : 0;
  const crashed: RehearsalFinding[] = [];
  for (let write = 1; write <= tried; write++) {
    for (const how of ["before the answer", "after the answer"] as const) {
      onProgress(`the new version, which crashes at its write ${write} of ${now.steps}, ${how}`);
      crashed.push(...(await crashFindings(operator, start, now, { write, how })));
    }
  }
  return {
    name: operator.name,
    objects: start.objects,
    findings: [...comparedRuns(now, before), ...crashed],
    load: { new: loadOf(now), ...(before && { old: loadOf(before) }) },
    crashes: 2 * tried,
    notes: notesOf(before),
  };
}

async function crashFindings(
  operator: StartableOperator,
  start: RehearsalStart,
  clean: RehearsedRun,
  { write, how }: { readonly write: number; readonly how: "before the answer" | "after the answer" },
): Promise<RehearsalFinding[]> {
  let isDone = false;
  const crashAt = (at: number) => {
    if (isDone || at !== write) return undefined;
    isDone = true;
    return how;
  };
  const run = await rehearsedRun(operator, start, { crashAt });
  const when = `after a crash at its write ${write}, ${how}`;
  const found = (message: string) => ({
    type: "crash" as const,
    resource: "",
    objects: [],
    message: `${when}: ${message}`,
  });
  if (run.failure !== undefined) return [found(run.failure)];
  if (run.isHalted) return [found("it writes without end")];
  const [first, ...more] = endStateDifferences(clean.end, run.end);
  return first === undefined ? [] : [found(more.length > 0 ? `${first}; and ${more.length} more` : first)];
}

function notesOf(before: RehearsedRun | undefined): string[] {
  if (!before) return ["there is no old version to compare with: everything is reported that the new version does"];
  const changed = new Set(before.writes.map(({ resource, key }) => `${resource} ${key}`));
  return [
    ...(before.failure === undefined ? [] : [`the old version cannot be run on this state: ${before.failure}`]),
    ...(changed.size === 0
      ? []
      : [
          `the old version changes ${changed.size} ${changed.size === 1 ? "object" : "objects"} of this state itself: the state was read while it worked, or what it makes of Secrets differs, whose values are placeholders`,
        ]),
  ];
}
