import { Job } from "@konverge/kinds";
import type { Program, Scenario } from "@konverge/testing";
import { type App, app } from "../../lib/app.ts";
import { deleteExactly, hasCondition, liveObjects, ownedJob } from "../../lib/members.ts";
import type { Reconciliation } from "../../lib/reconciler.ts";
import { reaches, setStatus } from "../../lib/steps.ts";

/** The next run begins this long after one that failed. */
const RETRY_MS = 60_000;

/** An App is backed up. */
export const backedUp =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a", { image: "example/backup:1" }));
    await reaches(environment, "a", "Complete");
  };

/** Backs an App up until a run completes; those that failed are kept. `phaseOf` says what the runs so far mean. */
export async function backUp(
  context: Reconciliation,
  app: App,
  phaseOf: (runs: readonly Job[]) => string | undefined,
): Promise<number | undefined> {
  const runs = inOrder(await liveObjects(context, Job, app));
  const phase = phaseOf(runs);
  if (phase) await setStatus(context, app, { phase });
  const complete = runs.find((run) => hasCondition(run, "Complete"));
  if (complete) {
    for (const run of runs)
      if (run !== complete && !hasCondition(run, "Failed")) await deleteExactly(context, Job, run);
    return undefined;
  }
  const last = runs.at(-1);
  if (last && !hasCondition(last, "Failed")) return undefined;
  const after = last ? Date.parse(last.metadata.creationTimestamp ?? "") + RETRY_MS - context.clock.now() : 0;
  if (after > 0) return after;
  await context.client.create(Job, ownedJob(app, { name: "", generateName: `${app.metadata.name}-backup-` }));
  return undefined;
}

/** Runs in the order in which they began. */
function inOrder(jobs: readonly Job[]): Job[] {
  const began = ({ metadata }: Job) => `${metadata.creationTimestamp} ${metadata.name}`;
  return jobs.toSorted((a, b) => (began(a) < began(b) ? -1 : 1));
}
