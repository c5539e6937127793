import { Job } from "@konverge/kinds";
import { deleteExactly, hasCondition, liveObjects, ownedJob } from "../../lib/members.ts";
import { reconciler } from "../../lib/reconciler.ts";
import { setStatus } from "../../lib/steps.ts";
import { backedUp, inOrder, RETRY_MS } from "./scenario.ts";

/** The last run counts, and those before one that completed are deleted. */
export const scenario = backedUp(
  reconciler({
    watches: [Job],
    create: () => async (name, app, context) => {
      if (!app) return;
      const runs = inOrder(await liveObjects(context, Job, app));
      const complete = runs.find((run) => hasCondition(run, "Complete"));
      if (complete) {
        for (const run of runs) if (run !== complete) await deleteExactly(context, Job, run);
        await setStatus(context, app, { phase: "Complete" });
        return;
      }
      const last = runs.at(-1);
      if (last && !hasCondition(last, "Failed")) return;
      if (last) {
        await setStatus(context, app, { phase: "Failed" });
        const after = Date.parse(last.metadata.creationTimestamp ?? "") + RETRY_MS - context.clock.now();
        if (after > 0) return after;
      }
      await context.client.create(Job, ownedJob(app, { name: "", generateName: `${name}-backup-` }));
    },
  }),
);
