import { Job } from "@konverge/kinds";
import { hasCondition, liveObjects, ownedJob } from "../../lib/members.ts";
import { reconciler } from "../../lib/reconciler.ts";
import { setStatus } from "../../lib/steps.ts";
import { backedUp, inOrder, RETRY_MS } from "./scenario.ts";

// The status is that of the first run that failed, whatever the later ones did (mariadb-operator/mariadb-operator#1887).
export const scenario = backedUp(
  reconciler({
    watches: [Job],
    create: () => async (name, app, context) => {
      if (!app) return;
      const runs = inOrder(await liveObjects(context, Job, app));
      const last = runs.at(-1);
      if (!last) {
        await context.client.create(Job, ownedJob(app, { name: "", generateName: `${name}-backup-` }));
        return;
      }
      if (runs.some((run) => hasCondition(run, "Failed"))) await setStatus(context, app, { phase: "Failed" });
      else if (hasCondition(last, "Complete")) await setStatus(context, app, { phase: "Complete" });
      if (!hasCondition(last, "Failed")) return;
      const after = Date.parse(last.metadata.creationTimestamp ?? "") + RETRY_MS - context.clock.now();
      if (after > 0) return after;
      await context.client.create(Job, ownedJob(app, { name: "", generateName: `${name}-backup-` }));
    },
  }),
);
